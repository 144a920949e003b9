// The verbs that this release does not serve: an application that uses one learns so, instead of "unknown verb".

const names: ReadonlySet<string> = new Set([
  'agent',
  'dialogflow',
  'lex',
  'llm',
  'message',
  'pipeline',
  'rasa',
  'rest:dial',
  's2s',
  'transcribe',
  'transfer',
])

/** A speech-to-speech verb carries the name of its vendor: `openai_s2s`. */
export function isUnservedVerb(name: string): boolean {
  return names.has(name) || /^[a-z]{1,32}_s2s$/.test(name)
}
