// The form of a SIP message (RFC 3261 §7). Header values stay text until a caller parses them.

/** One header field line; `name` is canonical lower case with compact forms expanded (RFC 3261 §7.3.3). */
export interface HeaderField {
  readonly name: string
  readonly value: string
}

interface MessageParts {
  /** The version in the start line; absent in messages made here, which are `SIP/2.0`. */
  readonly version?: string
  /**
   * The status to refuse a request with (RFC 3261 §21.4.12, §21.5.7), set if a part of it was too large to be parsed.
   */
  readonly tooLarge?: 414 | 513
  /** In the order received or in the order to send. */
  readonly headers: readonly HeaderField[]
  readonly body: Uint8Array
}

export interface SipRequest extends MessageParts {
  readonly kind: 'request'
  readonly method: string
  /** The Request-URI as received; parse it with `parseUri`. */
  readonly uri: string
  /** The fault, set if a part of the request could not be parsed and was left out. The only response to it is a 400. */
  readonly malformed?: string
}

export interface SipResponse extends MessageParts {
  readonly kind: 'response'
  readonly status: number
  readonly reason: string
}

export type SipMessage = SipRequest | SipResponse

/** Returns the first field with that name (lower case), or undefined. */
export function headerOf(message: SipMessage, name: string): string | undefined {
  for (const field of message.headers) if (field.name === name) return field.value
  return undefined
}

/** Returns all fields with that name, in order, not split at commas. */
export function headersOf(message: SipMessage, name: string): string[] {
  const values: string[] = []
  for (const field of message.headers) if (field.name === name) values.push(field.value)
  return values
}
