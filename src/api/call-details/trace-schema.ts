// The form of a trace (the JSON of OpenTelemetry, in the grouping that portals of this API read).
const word = { type: 'string' }

const attributes = {
  type: 'array',
  description: 'What is known of it, one value each.',
  items: {
    type: 'object',
    properties: {
      key: { ...word, description: 'The name of the fact.' },
      value: {
        type: 'object',
        description: 'The fact, under the name of its type.',
        properties: {
          stringValue: { ...word, description: 'A text.' },
          doubleValue: { type: 'number', description: 'A number.' },
          boolValue: { type: 'boolean', description: 'True or false.' },
        },
      },
    },
    required: ['key', 'value'],
  },
}

const span = {
  type: 'object',
  properties: {
    traceId: { ...word, description: '32 hex digits: the call_sid without its dashes.' },
    spanId: { ...word, description: '16 hex digits.' },
    parentSpanId: { ...word, description: 'The span it happened in; the call has none.' },
    name: {
      ...word,
      description: 'What it was: `inbound call`, `hook call`, `verb say`, `status completed`.',
    },
    kind: {
      ...word,
      enum: ['SPAN_KIND_SERVER', 'SPAN_KIND_CLIENT', 'SPAN_KIND_INTERNAL'],
      description: 'The call is a server span, a hook a client span, everything else internal.',
    },
    startTimeUnixNano: { ...word, description: 'Nanoseconds since 1970, exact to the millisecond.' },
    endTimeUnixNano: { ...word, description: 'Nanoseconds since 1970, exact to the millisecond.' },
    attributes,
  },
  required: ['traceId', 'spanId', 'name', 'kind', 'startTimeUnixNano', 'endTimeUnixNano', 'attributes'],
}

const library = {
  type: 'object',
  properties: {
    instrumentationLibrary: {
      type: 'object',
      description: 'Who recorded the spans: the journal.',
      properties: {
        name: { ...word, description: '`journal`.' },
        version: { ...word, description: 'Of the form of its spans.' },
      },
      required: ['name', 'version'],
    },
    spans: { type: 'array', description: 'In the order they began.', items: span },
  },
  required: ['instrumentationLibrary', 'spans'],
}

export const traceSchema = {
  type: 'object',
  properties: {
    resourceSpans: {
      type: 'array',
      description: 'One: the platform.',
      items: {
        type: 'object',
        properties: {
          resource: {
            type: 'object',
            description: 'The platform, by its `service.name`.',
            properties: { attributes },
            required: ['attributes'],
          },
          instrumentationLibrarySpans: { type: 'array', description: 'One: the journal.', items: library },
        },
        required: ['resource', 'instrumentationLibrarySpans'],
      },
    },
  },
  required: ['resourceSpans'],
} as const
