//! What crosses between the roles: fixed-size records, the shared page and descriptors.
