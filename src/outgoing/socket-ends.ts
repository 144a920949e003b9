// The reasons why a WebSocket was not opened or has ended, in sentences.
import { AppError } from '../lib/errors.ts'
import type { SocketEnd } from './sockets.ts'

interface End {
  readonly subject: string
  readonly code: number
  readonly reason: string
  readonly failure: Error | undefined
}

export function endOf({ subject, code, reason, failure }: End): SocketEnd {
  const broken = failure === undefined ? undefined : faults[codeOf(failure)]
  if (broken !== undefined) return { code: broken.code, because: `${subject} sent ${broken.text}` }
  if (code === 1006) return { code, because: `the connection to ${subject} broke` }
  const words = reason === '' ? '' : ` (${reason.slice(0, 100)})`
  const named = code === 1005 ? 'without a code' : `with ${code}`
  return { code, because: `${subject} closed the socket ${named}${words}` }
}

/** The code of the error for a peer that sends pings or pongs without end. */
export const tooManyControls = 'TOO_MANY_CONTROLS'

/** Violations of the protocol, by the code of the error. */
const faults: Readonly<Record<string, { readonly code: number; readonly text: string }>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: { code: 1009, text: 'a message that is longer than accepted' },
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: { code: 1009, text: 'a message that is longer than accepted' },
  WS_ERR_TOO_MANY_BUFFERED_PARTS: { code: 1008, text: 'a message in more pieces than are accepted' },
  WS_ERR_INVALID_UTF8: { code: 1007, text: 'text that is not UTF-8' },
  WS_ERR_INVALID_OPCODE: { code: 1002, text: 'something that is not a WebSocket frame' },
  WS_ERR_UNEXPECTED_RSV_1: { code: 1002, text: 'something that is not a WebSocket frame' },
  WS_ERR_UNEXPECTED_RSV_2_3: { code: 1002, text: 'something that is not a WebSocket frame' },
  WS_ERR_UNEXPECTED_MASK: { code: 1002, text: 'something that is not a WebSocket frame' },
  WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH: { code: 1002, text: 'something that is not a WebSocket frame' },
  WS_ERR_EXPECTED_FIN: { code: 1002, text: 'something that is not a WebSocket frame' },
  [tooManyControls]: { code: 1008, text: 'more than 100 pings or pongs in a second' },
  WS_ERR_INVALID_CLOSE_CODE: { code: 1002, text: 'a close code that does not exist' },
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

export interface Refusal {
  readonly subject: string
  readonly status: number
  /** In lower case. */
  readonly contentType?: string
  readonly body?: Buffer
}

/** Returns the error for a response that refuses the handshake. Its detail has what the response says. */
export function refusal({ subject, ...detail }: Refusal): AppError {
  const { status } = detail
  return new AppError(
    'hook_bad_status',
    `${subject} answered the WebSocket handshake with status ${status}`,
    {
      detail,
      cure: 'Accept WebSockets at the path of the URL.',
    },
  )
}
