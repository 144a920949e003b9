// The wire format of Protocol Buffers: fields with numbers, of which Google's recogniser needs few.

const varint = 0
const fixed64 = 1
const lengthPrefixed = 2
const fixed32 = 5
const continues = 0x80

/** A field that is left out if it is undefined. */
export type Part = Uint8Array | undefined

export function messageOf(...parts: readonly Part[]): Buffer {
  return Buffer.concat(parts.filter((part) => part !== undefined))
}

export function bytesField(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([varintOf(number * 8 + lengthPrefixed), varintOf(bytes.length), bytes])
}

export function textField(number: number, text: string | undefined): Part {
  return text === undefined ? undefined : bytesField(number, Buffer.from(text))
}

/** Also for flags. */
export function intField(number: number, value: number | boolean | undefined): Part {
  return value === undefined
    ? undefined
    : Buffer.concat([varintOf(number * 8 + varint), varintOf(Number(value))])
}

export function floatField(number: number, value: number | undefined): Part {
  if (value === undefined) return undefined
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([varintOf(number * 8 + fixed32), bytes])
}

function varintOf(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= continues) {
    bytes.push((rest % continues) + continues)
    rest = Math.floor(rest / continues)
  }
  return Buffer.from([...bytes, rest])
}

/** The fields of a message, by their number. Returns undefined for bytes that are no message. */
export function fieldsOf(message: Buffer): Fields | undefined {
  const fields = new Map<number, (number | Buffer)[]>()
  let at = 0
  const readVarint = (): number => {
    let value = 0
    for (let scale = 1; at < message.length; scale *= continues) {
      const byte = message.readUInt8(at)
      at += 1
      value += (byte % continues) * scale
      if (byte < continues) return value
    }
    return NaN
  }
  while (at < message.length) {
    const tag = readVarint()
    const number = Math.floor(tag / 8)
    const kind = tag % 8
    let value: number | Buffer
    if (kind === varint) value = readVarint()
    else {
      const length =
        kind === lengthPrefixed ? readVarint() : kind === fixed32 ? 4 : kind === fixed64 ? 8 : NaN
      if (!(at + length <= message.length)) return undefined
      value = message.subarray(at, at + length)
      at += length
    }
    if (Number.isNaN(value)) return undefined
    const known = fields.get(number)
    if (known === undefined) fields.set(number, [value])
    else known.push(value)
  }
  return new Fields(fields)
}

export class Fields {
  readonly #fields: ReadonlyMap<number, readonly (number | Buffer)[]>

  constructor(fields: ReadonlyMap<number, readonly (number | Buffer)[]>) {
    this.#fields = fields
  }

  int(number: number): number | undefined {
    const value = this.#fields.get(number)?.at(-1)
    return typeof value === 'number' ? value : undefined
  }

  text(number: number): string | undefined {
    return this.#bytes(number).at(-1)?.toString('utf8')
  }

  float(number: number): number | undefined {
    const bytes = this.#bytes(number).at(-1)
    return bytes?.length === 4 ? bytes.readFloatLE() : undefined
  }

  messages(number: number): readonly Fields[] {
    return this.#bytes(number).flatMap((bytes) => fieldsOf(bytes) ?? [])
  }

  #bytes(number: number): readonly Buffer[] {
    return (this.#fields.get(number) ?? []).filter((value) => typeof value !== 'number')
  }
}
