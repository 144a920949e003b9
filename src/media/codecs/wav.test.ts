import { describe, expect, it } from 'vitest'
import { createLaws } from './g711.ts'
import { readWavFormat, toMono } from './wav.ts'

interface Fields {
  readonly tag?: number
  readonly channels?: number
  readonly rate?: number
  readonly bits?: number
}

function chunk(name: string, content: Buffer, size = content.length): Buffer {
  const header = Buffer.alloc(8)
  header.write(name, 0, 'latin1')
  header.writeUInt32LE(size, 4)
  return Buffer.concat([header, content, Buffer.alloc(content.length % 2)])
}

function format({ tag = 1, channels = 1, rate = 8000, bits = 16 }: Fields = {}): Buffer {
  const content = Buffer.alloc(16)
  content.writeUInt16LE(tag, 0)
  content.writeUInt16LE(channels, 2)
  content.writeUInt32LE(rate, 4)
  content.writeUInt32LE((rate * channels * bits) / 8, 8)
  content.writeUInt16LE((channels * bits) / 8, 12)
  content.writeUInt16LE(bits, 14)
  return chunk('fmt ', content)
}

function riff(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WAVE'), ...chunks])
  return chunk('RIFF', body).subarray(0, 8 + body.length)
}

function read(file: Buffer): ReturnType<typeof readWavFormat> {
  return readWavFormat(
    (offset, length) => Promise.resolve(file.subarray(offset, offset + length)),
    file.length,
  )
}

const laws = createLaws()

describe('a WAV file', () => {
  it('is read past chunks of other programs, on even offsets', async () => {
    const file = riff(
      chunk('LIST', Buffer.from('odd')),
      format(),
      chunk('fact', Buffer.alloc(4)),
      chunk('data', Buffer.alloc(8)),
    )
    const wav = await read(file)
    expect(wav).toMatchObject({ encoding: 'pcm16', channels: 1, rate: 8000, frameBytes: 2, dataBytes: 8 })
    expect(wav.dataOffset).toBe(file.length - 8)
  })

  it.each([0, 0xffff_ffff, 2_000_000_000, 1000])(
    'ends with its file when its data length says %i',
    async (size) => {
      const file = riff(format(), chunk('data', Buffer.alloc(10), size)).subarray(0, -1)
      expect(await read(file)).toMatchObject({ dataBytes: 8 })
    },
  )

  it.each([0, 0xffff_0000, 0xffff_ffff, 2_000_000_000])(
    'has no known length while it grows, if its data length says %i',
    async (size) => {
      const file = riff(format(), chunk('data', Buffer.alloc(10), size))
      const readAt = async (offset: number, length: number) => file.subarray(offset, offset + length)
      expect(await readWavFormat(readAt, Infinity)).toMatchObject({ dataBytes: Infinity })
    },
  )

  it('is read past an odd chunk that is not padded, and past padding that is not zero', async () => {
    const bare = Buffer.concat([chunk('inst', Buffer.alloc(7)).subarray(0, -1)])
    expect(await read(riff(bare, format(), chunk('data', Buffer.alloc(8))))).toMatchObject({ dataBytes: 8 })
    const dirty = chunk('LIST', Buffer.from('odd'))
    dirty.write('x', dirty.length - 1)
    expect(await read(riff(format(), dirty, chunk('data', Buffer.alloc(8))))).toMatchObject({ dataBytes: 8 })
  })

  it('may name its coding in an extensible format', async () => {
    const plain = format({ tag: 0xfffe, bits: 8 }).subarray(8)
    const content = Buffer.concat([plain, Buffer.alloc(8), Buffer.from([7, 0]), Buffer.alloc(14)])
    expect(await read(riff(chunk('fmt ', content), chunk('data', Buffer.alloc(8))))).toMatchObject({
      encoding: 'PCMU',
    })
  })

  it.each<[string, Buffer]>([
    ['an empty file', Buffer.alloc(0)],
    ['an HTML page', Buffer.from('<html><body>404 Not Found</body></html>')],
    ['random bytes', Buffer.from('RIFF????WAVE'.repeat(20))],
    ['no format', riff(chunk('data', Buffer.alloc(8)))],
    ['no samples', riff(format(), chunk('data', Buffer.alloc(0)))],
    ['no data chunk', riff(format())],
    ['a format chunk cut short', riff(chunk('fmt ', Buffer.alloc(4)), chunk('data', Buffer.alloc(8)))],
    ['MP3 in WAV', riff(format({ tag: 85, bits: 0 }), chunk('data', Buffer.alloc(8)))],
    ['20 bits', riff(format({ bits: 20 }), chunk('data', Buffer.alloc(8)))],
    ['three channels', riff(format({ channels: 3 }), chunk('data', Buffer.alloc(8)))],
    ['no channel', riff(format({ channels: 0 }), chunk('data', Buffer.alloc(8)))],
    ['1 kHz', riff(format({ rate: 1000 }), chunk('data', Buffer.alloc(8)))],
    ['400 kHz', riff(format({ rate: 400_000 }), chunk('data', Buffer.alloc(8)))],
    ['chunks without end', riff(...Array.from({ length: 100 }, () => chunk('JUNK', Buffer.alloc(0))))],
  ])('is refused with audio_not_supported: %s', async (_name, file) => {
    await expect(read(file)).rejects.toMatchObject({ code: 'audio_not_supported' })
  })
})

describe('samples', () => {
  const shape = { rate: 8000, dataOffset: 0, dataBytes: 0 }

  it('of two channels are mixed', () => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt16LE(1000, 0)
    bytes.writeInt16LE(-3000, 2)
    expect([...toMono(bytes, { ...shape, encoding: 'pcm16', channels: 2, frameBytes: 4 }, laws)]).toEqual([
      -1000,
    ])
  })

  it.each([
    ['pcm24', 3, (bytes: Buffer) => bytes.writeIntLE(-0x40_00_00, 0, 3)],
    ['pcm32', 4, (bytes: Buffer) => bytes.writeInt32LE(-0x40_00_00_00, 0)],
    ['float32', 4, (bytes: Buffer) => bytes.writeFloatLE(-0.5, 0)],
    ['float64', 8, (bytes: Buffer) => bytes.writeDoubleLE(-0.5, 0)],
  ] as const)('of %s are of the same scale', (encoding, frameBytes, write) => {
    const bytes = Buffer.alloc(frameBytes)
    write(bytes)
    expect([...toMono(bytes, { ...shape, encoding, channels: 1, frameBytes }, laws)]).toEqual([-16_384])
  })

  it('of floats that are none are silent, and too loud ones as loud as can be', () => {
    const bytes = Buffer.alloc(12)
    for (const [index, value] of [NaN, 7, -7].entries()) bytes.writeFloatLE(value, 4 * index)
    const format = { ...shape, encoding: 'float32', channels: 1, frameBytes: 4 } as const
    expect([...toMono(bytes, format, laws)]).toEqual([0, 32_768, -32_768])
  })

  it('of eight bits have their zero at 128', () => {
    const bytes = Buffer.from([0, 128, 255])
    expect([...toMono(bytes, { ...shape, encoding: 'pcm8', channels: 1, frameBytes: 1 }, laws)]).toEqual([
      -32_768, 0, 32_512,
    ])
  })

  it('of G.711 are decoded by their law', () => {
    const bytes = Buffer.from([0x80, 0xff])
    expect([...toMono(bytes, { ...shape, encoding: 'PCMU', channels: 1, frameBytes: 1 }, laws)]).toEqual([
      32_124, 0,
    ])
    expect([...toMono(bytes, { ...shape, encoding: 'PCMA', channels: 2, frameBytes: 2 }, laws)]).toEqual([
      ((laws.PCMA.decode[0x80] ?? 0) + (laws.PCMA.decode[0xff] ?? 0)) / 2,
    ])
  })
})
