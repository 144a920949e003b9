// The form of a trace: the JSON of OpenTelemetry, grouped as portals of this API read it.
import { boolean, choice } from '../define/fields.ts'
import { list, number, object, word } from '../define/reply-fields.ts'

const attributes = list(
  object({
    key: word('The name of the fact.'),
    value: object({
      stringValue: word('A text.').optional(),
      doubleValue: number('A number.').optional(),
      boolValue: boolean().describe('True or false.').optional(),
    }).describe('The fact, under the name of its type.'),
  }),
).describe('Its facts, one value each.')

const span = object({
  traceId: word('32 hex digits: the call_sid without its dashes.'),
  spanId: word('16 hex digits.'),
  parentSpanId: word('The span it happened in; the call has none.').optional(),
  name: word('What it was: `inbound call`, `hook call`, `verb say`, `status completed`.'),
  kind: choice(['SPAN_KIND_SERVER', 'SPAN_KIND_CLIENT', 'SPAN_KIND_INTERNAL']).describe(
    'The call is a server span, a hook a client span, everything else internal.',
  ),
  startTimeUnixNano: word('Nanoseconds since 1970, exact to the millisecond.'),
  endTimeUnixNano: word('Nanoseconds since 1970, exact to the millisecond.'),
  attributes,
})

const library = object({
  instrumentationLibrary: object({
    name: word('`journal`.'),
    version: word('The version of the form of its spans.'),
  }).describe('The source of the spans: the journal.'),
  spans: list(span).describe('In the order they began.'),
})

export const traceField = object({
  resourceSpans: list(
    object({
      resource: object({ attributes }).describe('The platform, by its `service.name`.'),
      instrumentationLibrarySpans: list(library).describe('One: the journal.'),
    }),
  ).describe('One: the platform.'),
})
