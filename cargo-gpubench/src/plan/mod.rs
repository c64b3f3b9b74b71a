//! Launch plans on the tool's side: validation against declared tensors and device limits.
