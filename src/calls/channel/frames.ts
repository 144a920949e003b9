// The messages between the platform and an application over WebSocket: JSON texts, one object each.
import { readJson, UnreadableJson } from '../../lib/read-json.ts'

/** A message from the platform. */
export interface SentFrame {
  readonly type:
    | 'session:new'
    | 'session:reconnect'
    | 'session:redirect'
    | 'session:adulting'
    | 'verb:hook'
    | 'dial:confirm'
    | 'call:status'
    | 'verb:status'
    | 'jambonz:error'
  /** The leg that the message is about. */
  readonly call_sid: string
  /** The hook as the application wrote it. */
  readonly hook?: string
  readonly data: object
}

/** A command that an application sends by itself. */
export interface CommandFrame {
  readonly command: string
  /** True if verbs are added after the waiting ones instead of replacing them. */
  readonly isQueued: boolean
  /** The leg that is meant. Default: the leg of the application. */
  readonly callSid?: string
  readonly data: unknown
}

export type HeardFrame =
  | { readonly kind: 'ack'; readonly msgid: string; readonly data: unknown }
  | ({ readonly kind: 'command' } & CommandFrame)
  | { readonly kind: 'malformed'; readonly fault: string }

/** The commands that need no data. */
const withoutData: ReadonlySet<string> = new Set(['tts:flush', 'tts:clear', 'llm:tool-output'])

/** Never throws: an invalid message is returned with its fault. */
export function readFrame(text: string): HeardFrame {
  let frame: unknown
  try {
    frame = readJson(text)
  } catch (error) {
    if (!(error instanceof UnreadableJson)) throw error
    return malformed(`the message ${error.message}`)
  }
  if (typeof frame !== 'object' || frame === null || Array.isArray(frame))
    return malformed('the message is not a JSON object')
  const { type, msgid, command, queueCommand, callSid, data } = frame as Readonly<Record<string, unknown>>
  if (type === 'ack') {
    if (typeof msgid !== 'string') return malformed('an ack needs the msgid of the message that it answers')
    return { kind: 'ack', msgid, data }
  }
  if (type !== 'command') return malformed('the type of a message must be ack or command')
  if (typeof command !== 'string' || command === '') return malformed('a command needs a name: command')
  if (callSid !== undefined && callSid !== null && typeof callSid !== 'string')
    return malformed('callSid must be text')
  if ((data === undefined || data === null) && !withoutData.has(command))
    return malformed(`the command ${command.slice(0, 64)} needs data`)
  const leg = typeof callSid === 'string' && callSid !== '' ? { callSid } : {}
  return { kind: 'command', command, isQueued: queueCommand === true, ...leg, data }
}

function malformed(fault: string): HeardFrame {
  return { kind: 'malformed', fault }
}
