// The two streams of a recording as the lines of one SDP. Each stream is a media session that writes and reads an SDP
// with one line; this file joins and splits them (RFC 7866 §7.1.1).

export type RecordingDirection = 'sendonly' | 'inactive'

export interface SdpPart {
  readonly sdp: string
  /** Undefined for a line without a label. */
  readonly label: string | undefined
}

/**
 * Joins several SDPs into one offer or answer, each line with its label. Without a `direction` each line keeps its own.
 */
export function joinSdp(
  parts: readonly SdpPart[],
  { direction, version }: { readonly direction?: RecordingDirection | 'recvonly'; readonly version: number },
): string {
  const first = parts.find(({ sdp }) => headOf(sdp) !== '')
  if (first === undefined) throw new RangeError('there is no SDP to join')
  const head = headOf(first.sdp).replace(/^(o=\S+ \S+ )\d+/m, `$1${version}`)
  const lines = parts.map(({ sdp, label }) => {
    const [line = ''] = linesOf(sdp)
    const directed = direction === undefined ? line : `${withoutDirection(line)}a=${direction}\r\n`
    return label === undefined ? directed : `${directed}a=label:${label}\r\n`
  })
  return [head, ...lines].join('')
}

/** Returns an SDP for each line. The session-level part stays above each. */
export function splitSdp(sdp: string): readonly string[] {
  const head = headOf(sdp)
  return linesOf(sdp).map((line) => head + line)
}

/**
 * Returns the SDP of one line of a recording client as only sending: it is sent nothing, whatever it accepts (RFC 7866
 * §7.2.2).
 */
export function onlySent(part: string): string {
  const written = directionOf(linesOf(part)[0] ?? '') ?? directionOf(headOf(part)) ?? 'sendrecv'
  const direction = sends(written) ? 'sendonly' : 'inactive'
  const text = withoutDirection(part)
  return `${text}${text.endsWith('\n') ? '' : '\r\n'}a=${direction}\r\n`
}

/** Reports whether the client sends a stream for this line. */
export function isSending(part: string): boolean {
  return sends(directionOf(linesOf(part)[0] ?? '') ?? directionOf(headOf(part)) ?? 'sendrecv')
}

/** Returns the answer to a line that is refused (RFC 3264 §6). */
export function refusedLine(part: string): string {
  const [, type = 'audio', rest = ''] = /^m=(\S+) \S+ ([^\r\n]*)/m.exec(part) ?? []
  return `m=${type} 0 ${rest}\r\n`
}

/** Reports whether a line is for audio and not refused. */
export function isSound(part: string): boolean {
  return /^m=audio (?!0[ /])\d/m.test(part)
}

export function labelOf(part: string): string | undefined {
  return /^a=label:(\S+)/m.exec(linesOf(part)[0] ?? '')?.[1]
}

function sends(direction: string): boolean {
  return direction === 'sendrecv' || direction === 'sendonly'
}

function directionOf(text: string): string | undefined {
  return /^a=(sendrecv|sendonly|recvonly|inactive)[ \t]*\r?$/m.exec(text)?.[1]
}

function withoutDirection(text: string): string {
  return text.replace(/^a=(?:sendrecv|sendonly|recvonly|inactive)[ \t]*\r?\n/gm, '')
}

function headOf(sdp: string): string {
  const at = sdp.search(/^m=/m)
  return at === -1 ? sdp : sdp.slice(0, at)
}

function linesOf(sdp: string): readonly string[] {
  const lines = sdp.slice(headOf(sdp).length)
  return lines === '' ? [] : lines.split(/^(?=m=)/m)
}
