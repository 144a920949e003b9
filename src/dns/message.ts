// Dynamic updates on the wire: messages of RFC 1035 §4, whose sections have the meaning of RFC 2136.

export const types = { a: 1, soa: 6, aaaa: 28, srv: 33, naptr: 35, tsig: 250, any: 255 } as const
export type RecordType = keyof typeof types
const classes = { in: 1, none: 254, any: 255 } as const

export interface ResourceRecord {
  readonly name: string
  readonly type: RecordType
  readonly ttlSeconds: number
  readonly data: Buffer
}

export type Prerequisite =
  /** RFC 2136 §2.4.5: no record has this name. */
  | { readonly kind: 'name-unused'; readonly name: string }
  /** RFC 2136 §2.4.2: these are all the records of this name and type. */
  | { readonly kind: 'records-are'; readonly records: readonly ResourceRecord[] }

export type Change =
  | { readonly kind: 'add'; readonly record: ResourceRecord }
  /** RFC 2136 §2.5.2: removes all records of this name and type. */
  | { readonly kind: 'remove'; readonly name: string; readonly type: RecordType }

export interface Update {
  readonly id: number
  readonly zone: string
  readonly prerequisites: readonly Prerequisite[]
  readonly changes: readonly Change[]
}

// RFC 2136 §1.3.
const updateOpcode = 5

/** Encodes an update without a signature; the additional section is empty. */
export function encodeUpdate({ id, zone, prerequisites, changes }: Update): Buffer {
  const conditions = prerequisites.flatMap(encodePrerequisite)
  const updates = changes.map(encodeChange)
  const header = Buffer.alloc(12)
  header.writeUInt16BE(id, 0)
  header.writeUInt16BE(updateOpcode << 11, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(conditions.length, 6)
  header.writeUInt16BE(updates.length, 8)
  const zoneSection = [encodeName(zone), uint16(types.soa), uint16(classes.in)]
  return Buffer.concat([header, ...zoneSection, ...conditions, ...updates])
}

function encodePrerequisite(prerequisite: Prerequisite): Buffer[] {
  if (prerequisite.kind === 'name-unused')
    return [encodeRecord(prerequisite.name, types.any, classes.none, 0, nothing)]
  return prerequisite.records.map(({ name, type, data }) =>
    encodeRecord(name, types[type], classes.in, 0, data),
  )
}

function encodeChange(change: Change): Buffer {
  if (change.kind === 'remove') return encodeRecord(change.name, types[change.type], classes.any, 0, nothing)
  const { name, type, ttlSeconds, data } = change.record
  return encodeRecord(name, types[type], classes.in, ttlSeconds, data)
}

const nothing = Buffer.alloc(0)

export function encodeRecord(
  name: string,
  type: number,
  recordClass: number,
  ttlSeconds: number,
  data: Buffer,
): Buffer {
  const ttl = Buffer.alloc(4)
  ttl.writeUInt32BE(ttlSeconds)
  return Buffer.concat([encodeName(name), uint16(type), uint16(recordClass), ttl, uint16(data.length), data])
}

/** Encodes a name as in RFC 1035 §3.1, never compressed: the canonical form for signatures (RFC 8945 §4.3.3). */
export function encodeName(name: string): Buffer {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.')
  const parts = labels.map((label) => {
    const text = Buffer.from(label, 'latin1')
    if (text.length === 0 || text.length > 63) throw new Error('a label of a domain name has 1 to 63 bytes')
    return Buffer.concat([Buffer.of(text.length), text])
  })
  return Buffer.concat([...parts, Buffer.of(0)])
}

export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

export interface Reply {
  readonly id: number
  readonly isResponse: boolean
  /** The response code: RFC 1035 §4.1.1 and RFC 2136 §2.2. */
  readonly rcode: number
  /** The last record of the additional section, if it is a signature: RFC 8945 §5.1. */
  readonly signature: { readonly at: number; readonly name: string; readonly data: Buffer } | undefined
}

/** Parses a response. Throws if the bytes are not a message. */
export function parseReply(bytes: Buffer): Reply {
  const flags = bytes.readUInt16BE(2)
  let at = 12
  for (let left = bytes.readUInt16BE(4); left > 0; left--) at = readName(bytes, at).end + 4
  const additional = bytes.readUInt16BE(10)
  const records = bytes.readUInt16BE(6) + bytes.readUInt16BE(8) + additional
  let signature: Reply['signature']
  for (let left = records; left > 0; left--) {
    const { name, end } = readName(bytes, at)
    const start = end + 10
    const length = bytes.readUInt16BE(end + 8)
    if (start + length > bytes.length) throw new Error('a record is longer than its message')
    if (left === 1 && additional > 0 && bytes.readUInt16BE(end) === types.tsig)
      signature = { at, name, data: bytes.subarray(start, start + length) }
    at = start + length
  }
  return { id: bytes.readUInt16BE(0), isResponse: (flags & 0x8000) !== 0, rcode: flags & 0xf, signature }
}

/** Reads a name. A pointer must lead backwards, so that names cannot form a loop: RFC 1035 §4.1.4. */
export function readName(bytes: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = start
  let end: number | undefined
  for (;;) {
    const length = bytes.readUInt8(at)
    if (length >= 0xc0) {
      const target = bytes.readUInt16BE(at) & 0x3fff
      if (target >= at) throw new Error('a name points forwards')
      end ??= at + 2
      at = target
      continue
    }
    if (length === 0) return { name: labels.join('.').toLowerCase(), end: end ?? at + 1 }
    labels.push(bytes.toString('latin1', at + 1, at + 1 + length))
    if (labels.length > 127) throw new Error('a name has too many labels')
    at += 1 + length
  }
}
