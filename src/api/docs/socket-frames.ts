// The messages between the platform and an application over WebSocket, for the reference. The examples are what a test has seen.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SentFrame } from '../../calls/channel/frames.ts'

export interface FrameDescription {
  /** Its type; of a command with its name. */
  readonly name: string
  /** By its key in the file of examples. */
  readonly example: string
  readonly meaning: string
}

export const socketExamplesFile = join(import.meta.dirname, 'socket-examples.json')

export function socketExamples(): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(socketExamplesFile, 'utf8')) as Record<string, unknown>
}

const needsAck = 'Needs an ack.'

/** What each that the platform sends means. */
const meanings: Readonly<Record<SentFrame['type'], string>> = {
  'session:new': `A call begins; \`data\` is what a call hook gets. ${needsAck} Of a call that came in it needs at least one verb; a call that is up may wait for them. \`hook\` is there where a hook of an application over HTTP led here.`,
  'session:reconnect': `The socket has broken, and this one takes its place; \`data\` is that of the beginning. ${needsAck} Verbs replace those that are to come; where the first ack was missing, this is it.`,
  'session:redirect': `Another hook was asked for, by \`redirect\` or by a client of the API; where it is the URL of another WebSocket server, that one gets this frame first, in place of \`session:new\`. ${needsAck} Its verbs take the place of all others.`,
  'session:adulting': `A leg that was dialled becomes a call of its own by \`child_call_hook\`: on a socket of its own, to the URL of the call hook with \`/adulting\` after its path. \`parent_call_info\` is the call that dialled it. ${needsAck}`,
  'verb:hook': `A hook of a verb is asked, \`hook\` as you wrote it; \`data\` is that of the hook. ${needsAck} Verbs replace those that are to come; none goes on with the next one.`,
  'dial:confirm': `A \`confirmHook\` is asked about the leg that has answered. ${needsAck} Its verbs run on that leg.`,
  'call:status':
    'A leg of the call has changed, also one that it dials (`direction` outbound, with `parent_call_sid`). Not sent where `call_status_hook` is an HTTP URL. Sent at most once: what has not been sent when the process dies is lost, while the journal has it.',
  'verb:status':
    'What becomes of the running verb; only after `config` with `notifyEvents`. `starting` and `finished` have its `name`; all others have it as `verb`: `start-playback`, then `stop-playback` at the end of the prompt or `kill-playback` where something has ended it before; `dtmf-bargein-detected`, where that was a key; `synthesized-audio`, where a text has become sound, with its `characters` and `elapsed_ms`, and with `vendor` and `language` where they are set. `speech-bargein-detected` is never sent: speech recognition is not served yet.',
  'jambonz:error':
    'What you sent makes no sense (`InvalidMessage`) or cannot be done (`InvalidCommand`, with the `code` of the error and its `cure`). The call goes on as it was.',
}

/** From the platform. */
export const sentFrames: readonly FrameDescription[] = Object.entries(meanings).map(([name, meaning]) => ({
  name,
  example: name,
  meaning,
}))

/** From the application. */
export const heardFrames: readonly FrameDescription[] = [
  {
    name: 'ack',
    example: 'ack',
    meaning:
      'Answers the message of that `msgid`, within five seconds. `data` is a list of verbs; with none, or without `data`, the call goes on. A second ack, a late one and one of an unknown `msgid` change nothing.',
  },
  {
    name: 'command redirect',
    example: 'command redirect',
    meaning:
      'Verbs that come at once in place of all others; with `queueCommand` after those that are there. Or an object: `call_hook` and `child_call_hook` with hooks, or `parent_call` and `child_call` with verbs for either side of a bridge.',
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
