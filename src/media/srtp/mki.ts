// The master key identifier of a packet (RFC 3711 §3.1 and §3.4): between what is authentic and the tag, and itself in neither.

/** Puts it into a packet that has its tag; returns how long the packet is then. There must be room for it. */
export function insertMki(packet: Buffer, bytes: number, tagBytes: number, mki: Uint8Array): number {
  const at = bytes - tagBytes
  packet.copyWithin(at + mki.length, at, bytes)
  packet.set(mki, at)
  return bytes + mki.length
}

/** The packet without it, in memory of its own: it may be tried under another key. Undefined where it has another one. */
export function removeMki(packet: Buffer, tagBytes: number, mki: Uint8Array): Buffer | undefined {
  const at = packet.length - tagBytes - mki.length
  if (at < 0 || !packet.subarray(at, at + mki.length).equals(mki)) return undefined
  return Buffer.concat([packet.subarray(0, at), packet.subarray(at + mki.length)])
}
