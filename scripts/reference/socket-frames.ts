// The messages between the platform and an application over WebSocket, for the reference. A test has recorded the
// examples.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SentFrame } from '../../src/calls/journal.ts'

export interface FrameDescription {
  /** The type; for a command, with its name. */
  readonly name: string
  /** The key in the file of examples. */
  readonly example: string
  readonly meaning: string
}

export const socketExamplesFile = join(import.meta.dirname, 'socket-examples.json')

export function socketExamples(): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(socketExamplesFile, 'utf8')) as Record<string, unknown>
}

const needsAck = 'Needs an ack.'

/** The meanings of messages from the platform. */
const meanings: Readonly<Record<SentFrame['type'], string>> = {
  'session:new': `A call begins; \`data\` is the payload of a call hook. ${needsAck} For an inbound call it needs at least one verb; a call that is up may wait for verbs. \`hook\` is present if a hook of an application over HTTP led here.`,
  'session:reconnect': `The socket broke, and this one replaces it; \`data\` is that of the first message. ${needsAck} Verbs replace those that have not run yet; if the first ack was missing, this one takes its place.`,
  'session:redirect': `The call was sent to another hook, by \`redirect\` or by a client of the API. If that hook is the URL of another WebSocket server, its socket begins with this message instead of \`session:new\`. ${needsAck} Its verbs replace all others.`,
  'session:adulting': `A leg that was dialled becomes a call of its own by \`child_call_hook\`: it has a socket of its own, to the URL of the call hook with \`/adulting\` after its path. \`parent_call_info\` is the call that dialled it. ${needsAck}`,
  'verb:hook': `A hook of a verb is asked: \`hook\` is as you wrote it, \`data\` is its payload. ${needsAck} Verbs replace those that have not run yet; without verbs, the next one runs.`,
  'dial:confirm': `A \`confirmHook\` is asked about the leg that has answered. ${needsAck} Its verbs run on that leg.`,
  'call:status':
    'A leg of the call has changed, also one that it dials (`direction` outbound, with `parent_call_sid`). Not sent if `call_status_hook` is an HTTP URL. Sent at most once: a message that has not been sent when the process dies is lost, but its fact is in the journal.',
  'verb:status':
    'The progress of the running verb; only after `config` with `notifyEvents`. `starting` and `finished` have its `name`; all others have it as `verb`: `start-playback`, then `stop-playback` at the end of the prompt or `kill-playback` if something ended it earlier; `dtmf-bargein-detected` or `speech-bargein-detected`, if that was a key or words; `synthesized-audio`, when a text has become sound, with its `characters` and `elapsed_ms`, and with `vendor` and `language` if they are set.',
  'jambonz:error':
    'Your message makes no sense (`InvalidMessage`) or cannot be carried out (`InvalidCommand`, with the `code` of the error and its `cure`): the call continues unchanged. Or a recogniser cannot be had or has failed (`ASR error`, with `details`, `verb`, `id`, and `failover`: `in progress` if the fallback takes its place, else `not available`).',
}

/** Messages from the platform. */
export const sentFrames: readonly FrameDescription[] = Object.entries(meanings).map(([name, meaning]) => ({
  name,
  example: name,
  meaning,
}))

/** Messages from the application. */
export const heardFrames: readonly FrameDescription[] = [
  {
    name: 'ack',
    example: 'ack',
    meaning:
      'Answers the message of that `msgid`, within five seconds. `data` is a list of verbs; with none, or without `data`, the call continues. A second ack, a late one and one of an unknown `msgid` change nothing.',
  },
  {
    name: 'command redirect',
    example: 'command redirect',
    meaning:
      'Verbs that immediately replace all others; with `queueCommand` they follow those that are there. Or an object: `call_hook` and `child_call_hook` with hooks, or `parent_call` and `child_call` with verbs for either side of a bridge.',
  },
  {
    name: 'command config',
    example: 'command config',
    meaning: 'The options of the verb `config`, from now on.',
  },
  {
    name: 'command dial',
    example: 'command dial',
    meaning: 'Makes another call: the body of `POST /Accounts/{AccountSid}/Calls`.',
  },
]
