// What a SIP message is (RFC 3261 §7). Headers stay text until a parsed one is asked for.

/** One header field line; `name` is canonical lower case with compact forms expanded (RFC 3261 §7.3.3). */
export interface HeaderField {
  readonly name: string
  readonly value: string
}

interface MessageParts {
  /** As it stood in the start line; absent in messages made here, which are `SIP/2.0`. */
  readonly version?: string
  /** Set when a part of it was too large to be read, and what a request is answered for it (RFC 3261 §21.4.12, §21.5.7). */
  readonly tooLarge?: 414 | 513
  /** In the order received or to be sent. */
  readonly headers: readonly HeaderField[]
  readonly body: Uint8Array
}

export interface SipRequest extends MessageParts {
  readonly kind: 'request'
  readonly method: string
  /** The Request-URI as received; parse it with `parseUri`. */
  readonly uri: string
  /** Set when a part of it could not be read, which is left out: why. It is owed a 400 and nothing else. */
  readonly malformed?: string
}

export interface SipResponse extends MessageParts {
  readonly kind: 'response'
  readonly status: number
  readonly reason: string
}

export type SipMessage = SipRequest | SipResponse

/** The first field of that name (lower case), or undefined. */
export function headerOf(message: SipMessage, name: string): string | undefined {
  for (const field of message.headers) if (field.name === name) return field.value
  return undefined
}

/** Every field of that name, in order, not split at commas. */
export function headersOf(message: SipMessage, name: string): string[] {
  const values: string[] = []
  for (const field of message.headers) if (field.name === name) values.push(field.value)
  return values
}
