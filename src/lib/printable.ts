// Text on one line, as a JSON Schema: it may end up in a SIP header, a log line or a terminal.

/** No control characters, and none of those that some readers take as the end of a line. */
export const printable = {
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
  'x-rule': 'must not contain control characters',
} as const
