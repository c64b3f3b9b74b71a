//! What people and machines read: terminal table, JSON lines, CSV and Markdown.
