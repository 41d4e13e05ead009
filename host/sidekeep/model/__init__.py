"""What moves and what is stored: errors, ids, canonical JSON, ops, events, entities, places."""
