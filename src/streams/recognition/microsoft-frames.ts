// The messages of Microsoft's speech service: headers like those of HTTP before JSON, or before audio.

export interface SpeechMessage {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const lengthBytes = 2

export function encodeText(headers: Readonly<Record<string, string>>, body: object): string {
  return `${headerLines({ ...headers, 'Content-Type': 'application/json; charset=utf-8' })}\r\n${JSON.stringify(body)}`
}

//  0        2
//  +--------+--------------------------+-------
//  | length | headers, each with CR LF | audio
//  +--------+--------------------------+-------
export function encodeBinary(headers: Readonly<Record<string, string>>, audio: Uint8Array): Buffer {
  const head = Buffer.from(headerLines(headers))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt16BE(head.length)
  return Buffer.concat([length, head, audio])
}

/** Returns undefined for a text without headers. */
export function decodeText(text: string): SpeechMessage | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const headers: Record<string, string> = {}
  for (const line of text.slice(0, end).split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
  return { headers, body: text.slice(end + 4) }
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}
