// The master key identifier of a packet (RFC 3711 §3.1 and §3.4), which is not authenticated. In counter mode it is
// before the tag, in AES-GCM it is the last field (RFC 7714 §8 and §9).

/** Inserts it into a packet that has its tag, and returns the new length. The packet must have room for it. */
export function insertMki(packet: Buffer, bytes: number, bytesBehind: number, mki: Uint8Array): number {
  const at = bytes - bytesBehind
  packet.copyWithin(at + mki.length, at, bytes)
  packet.set(mki, at)
  return bytes + mki.length
}

/**
 * Returns a copy of the packet without it, since the original may be tried under another key. Undefined if the MKI is
 * another.
 */
export function removeMki(packet: Buffer, bytesBehind: number, mki: Uint8Array): Buffer | undefined {
  const at = packet.length - bytesBehind - mki.length
  if (at < 0 || !packet.subarray(at, at + mki.length).equals(mki)) return undefined
  return Buffer.concat([packet.subarray(0, at), packet.subarray(at + mki.length)])
}
