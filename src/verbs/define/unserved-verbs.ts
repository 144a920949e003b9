// The verbs that this release does not serve. The error says what to use instead, not "unknown verb".
import { inPlaceOf } from '../../lib/not-served.ts'

const { models } = inPlaceOf

const cures: Readonly<Record<string, string>> = {
  agent: models,
  dialogflow: models,
  lex: models,
  llm: models,
  message: 'Let your own server send the message through a messaging vendor.',
  pipeline: models,
  rasa: models,
  record: 'Record the call by `record` of the verb `config`.',
  'rest:dial': 'Start the call by `POST /v1/Accounts/{AccountSid}/Calls`.',
  s2s: models,
  transfer: 'Connect the caller with `dial`, or let its own side call elsewhere with `sip:refer`.',
}

/** Returns what to use instead of the verb, or undefined if the interface has no such verb. */
export function cureOfUnserved(name: string): string | undefined {
  // The name of a speech-to-speech verb contains its vendor: `openai_s2s`.
  if (/^[a-z]{1,32}_s2s$/.test(name)) return models
  return Object.hasOwn(cures, name) ? cures[name] : undefined
}
