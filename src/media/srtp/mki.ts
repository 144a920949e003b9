// The master key identifier of a packet (RFC 3711 §3.1 and §3.4). It is between the authenticated part and the tag,
// and is itself not authenticated.

/** Inserts it into a packet that has its tag, and returns the new length. The packet must have room for it. */
export function insertMki(packet: Buffer, bytes: number, tagBytes: number, mki: Uint8Array): number {
  const at = bytes - tagBytes
  packet.copyWithin(at + mki.length, at, bytes)
  packet.set(mki, at)
  return bytes + mki.length
}

/**
 * Returns a copy of the packet without it, since the original may be tried under another key. Undefined if the MKI is
 * another.
 */
export function removeMki(packet: Buffer, tagBytes: number, mki: Uint8Array): Buffer | undefined {
  const at = packet.length - tagBytes - mki.length
  if (at < 0 || !packet.subarray(at, at + mki.length).equals(mki)) return undefined
  return Buffer.concat([packet.subarray(0, at), packet.subarray(at + mki.length)])
}
