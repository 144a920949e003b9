// The two streams of a recording as the lines of one SDP. Each is a media session of its own, which writes and reads an SDP
// with one line: these are put together and taken apart here (RFC 7866 §7.1.1).

export type RecordingDirection = 'sendonly' | 'inactive'

/** One offer, or one answer, of the lines of several, each with its label. */
export function joinSdp(
  parts: readonly { readonly sdp: string; readonly label: string }[],
  { direction, version }: { readonly direction: RecordingDirection; readonly version: number },
): string {
  const [first] = parts
  if (first === undefined) throw new RangeError('there is no SDP to join')
  const head = headOf(first.sdp).replace(/^(o=\S+ \S+ )\d+/m, `$1${version}`)
  const lines = parts.map(({ sdp, label }) => {
    const [line = ''] = linesOf(sdp)
    return `${line.replace(/^a=(?:sendrecv|sendonly|recvonly|inactive)\r\n/m, '')}a=${direction}\r\na=label:${label}\r\n`
  })
  return [head, ...lines].join('')
}

/** The SDP of each line by itself: what holds for all lines stays above it. */
export function splitSdp(sdp: string): readonly string[] {
  const head = headOf(sdp)
  return linesOf(sdp).map((line) => head + line)
}

function headOf(sdp: string): string {
  return sdp.split(/^(?=m=)/m, 1)[0] ?? ''
}

function linesOf(sdp: string): readonly string[] {
  return sdp.split(/^(?=m=)/m).slice(1)
}
