// The journal of a call as a short story: one line for what a reader wants to know first, in the order it happened.

/** An event as the REST API returns it. */
export interface StoryEvent {
  readonly at: number
  readonly type: string
  readonly [fact: string]: unknown
}

type Sentence = (event: StoryEvent) => string | undefined

const verbs = (event: StoryEvent): string => (event['verbs'] as readonly string[]).join(', ')
const withCure = (event: StoryEvent): string =>
  `${String(event['sentence'])} ${String(event['cure'])} (${String(event['code'])})`

// The INVITE, its answer and the BYE; the rest of the SIP messages is for a ladder.
const toldSip = /^(INVITE|200 OK|BYE|CANCEL|[4-6]\d\d .*)$/

const sentences: Readonly<Record<string, Sentence>> = {
  started: ({ from, to }) => `a call from ${String(from)} to ${String(to)}`,
  sip: ({ direction, summary }) =>
    toldSip.test(String(summary)) ? `SIP: ${String(direction)} ${String(summary)}` : undefined,
  decision: ({ rule, sentence, outcome }) =>
    `${String(sentence).replace(/\.$/, '')}: ${String(outcome)} (${String(rule)})`,
  'hook-answered': (event) =>
    `the ${String(event['hook'])} hook answered in ${String(event['duration_ms'])} ms: ${verbs(event)}`,
  'hook-failed': withCure,
  'media-open': ({ codec, port }) => `RTP: ${String(codec)} at port ${String(port)}`,
  'verb-ended': ({ verb, outcome, duration_ms }) =>
    `${String(verb)}: ${String(outcome)} after ${(Number(duration_ms) / 1000).toFixed(1)} s`,
  dialled: ({ to }) => `calls ${String(to)}`,
  bridged: () => 'the two talk',
  unbridged: ({ because }) => `the two part: ${String(because)}`,
  held: () => 'one of the two puts the other on hold',
  resumed: () => 'the two hear each other again',
  'hold-sound': ({ source }) => `on hold there is ${String(source)} to hear`,
  'dial-ended': ({ to, call_status, sentence }) =>
    `${String(to)}: ${String(call_status)}, ${String(sentence)}`,
  digit: ({ digit }) => `key ${String(digit)}`,
  status: ({ call_status, sip_status }) => `status ${String(call_status)} (SIP ${String(sip_status)})`,
  refusal: withCure,
  problem: withCure,
  note: ({ sentence }) => String(sentence),
  'media-closed': ({ packets_sent, packets_received, packets_lost, jitter_ms }) =>
    `RTP: ${String(packets_sent)} packets sent, ${String(packets_received)} received, ${String(packets_lost)} lost, ` +
    `jitter ${Number(jitter_ms).toFixed(1)} ms`,
  ended: ({ termination_reason }) => `the end: ${String(termination_reason)}`,
}

/** Lines of seconds since the beginning and a sentence each. Keys that follow each other share one line. */
export function journalStory(events: readonly StoryEvent[]): string[] {
  const start = events[0]?.at ?? 0
  const lines: { at: number; text: string; isKey: boolean }[] = []
  for (const event of events) {
    const text = sentences[event.type]?.(event)
    if (text === undefined) continue
    const last = lines.at(-1)
    const isKey = event.type === 'digit'
    if (isKey && last?.isKey === true)
      last.text = `keys ${last.text.replace(/^keys? /, '')} ${String(event['digit'])}`
    else lines.push({ at: event.at, text, isKey })
  }
  return lines.map(({ at, text }) => `${((at - start) / 1000).toFixed(2).padStart(7)} s  ${text}`)
}
