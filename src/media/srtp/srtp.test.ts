// SRTP and SRTCP against the vectors of RFC 3711, against node:crypto used packet by packet, and against losses,
// delays and forgeries by networks and strangers.
import { createCipheriv, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createRandomBelow } from '../../../test/support/random.ts'
import { writeRtpHeader } from '../rtp/packet.ts'
import { toCompound } from '../rtp/rtcp.ts'
import { Cipher } from './cipher.ts'
import { GcmSeal } from './gcm-seal.ts'
import { deriveKeys } from './session-keys.ts'
import { SrtcpReceiver, SrtcpSender } from './srtcp.ts'
import { SrtpReceiver, SrtpSender } from './srtp.ts'
import { masterBytesOf, suites, type MasterKey, type SuiteName } from './suites.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
const suiteNames = Object.keys(suites) as SuiteName[]
const counterSuites = suiteNames.filter((suite) => suites[suite].mode === 'counter')

// RFC 3711 appendix B.3.
const vector: MasterKey = {
  suite: 'AES_CM_128_HMAC_SHA1_80',
  key: hex('E1F97A0D3E018BE0D64FA32C06DE4139 0EC675AD498AFEEBB6960B3AABE6'),
}

function masterOf(suite: SuiteName, seed = 1): MasterKey {
  const below = createRandomBelow(seed)
  return { suite, key: Buffer.from(Array.from({ length: masterBytesOf(suite) }, () => below(256))) }
}

/** Returns an unprotected packet. The sequence may have more than 16 bits. */
function packetOf(sequence: number, { ssrc = 7, payload = Buffer.alloc(160, sequence) } = {}): Buffer {
  const packet = Buffer.concat([Buffer.alloc(12), payload])
  writeRtpHeader(packet, {
    marker: false,
    payloadType: 0,
    sequence: sequence & 0xffff,
    timestamp: (sequence * 160) >>> 0,
    ssrc,
  })
  return packet
}

/** Returns the two ends of one direction. */
function ends(master: MasterKey = masterOf('AES_CM_128_HMAC_SHA1_80')) {
  const sender = new SrtpSender(master)
  const receiver = new SrtpReceiver(master)
  return {
    sender,
    receiver,
    send: (packet: Buffer): Buffer => {
      const to = Buffer.alloc(1600)
      return to.subarray(0, sender.protect(packet, packet.length, to))
    },
    /** Receives a datagram, which is a buffer of its own, as from a network. */
    hear: (datagram: Buffer): Buffer | string => receiver.unprotect(Buffer.from(datagram)),
  }
}

const galliaKey = '000102030405060708090a0b0c0d0e0f'
const longGalliaKey = `${galliaKey}101112131415161718191a1b1c1d1e1f`
const galliaSalt = hex('51756964 2070726f 2071756f')

describe.each([
  {
    suite: 'AEAD_AES_128_GCM',
    key: galliaKey,
    packet:
      'f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833 899d7f27 beb16a91 52cf765e e4390cce',
    report:
      '63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade',
    tagOnly: '841dd968 3dd78ec9 2ae58790 125f62b3',
  },
  {
    suite: 'AEAD_AES_256_GCM',
    key: longGalliaKey,
    packet:
      '32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02 76ffae0f 1ba63799 b87b 7aa3db36 dfffd6b0 f9bb7878 d7a76c13',
    report:
      'd50ae4d1 f5ce5d30 4ba297e4 7d470c28 2c3ece5d bffe0a50 a2eaa5c1 110555be 8415f658 c61de047 6f1b6fad 1d1eb30c 4446839f 57ff6f6c b26ac3be',
    tagOnly: '91db4afb feee5a97 8fab4393 ed2615fe',
  },
])('RFC 7714 §16 and §17, $suite', ({ key, packet, report, tagOnly }) => {
  const seal = new GcmSeal({ encryption: hex(key), salt: galliaSalt })

  it('gives the packet written here, which is read again', () => {
    const head = hex('8040f17b 8041f8d3 5501a0b2')
    const text = Buffer.from('Gallia est omnis divisa in partes tres')
    const end = head.length + text.length
    const sent = Buffer.concat([head, text, Buffer.alloc(16)])
    const index = { ssrc: 0x55_01_a0_b2, upper: 0, lower: 0xf1_7b }
    seal.closeRtp(sent, head.length, end, index)
    expect(sent).toEqual(Buffer.concat([head, hex(packet)]))
    expect(seal.openRtp(sent, head.length, end, { ...index, upper: 1 })).toBe(false)
    expect(seal.openRtp(sent, head.length, end, index)).toBe(true)
    expect(sent.subarray(0, end)).toEqual(Buffer.concat([head, text]))
  })

  const plain = hex(
    '81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef',
  )

  it('gives the report written here, which is read again', () => {
    const sent = Buffer.concat([plain, Buffer.alloc(20)])
    seal.closeRtcp(sent, plain.length, 0x5d4)
    expect(sent).toEqual(Buffer.concat([plain.subarray(0, 8), hex(report), hex('800005d4')]))
    expect(seal.openRtcp(sent, plain.length)).toBe(true)
    expect(sent.subarray(0, plain.length)).toEqual(plain)
  })

  it('gives the tag of a report that is not encrypted', () => {
    const sent = Buffer.concat([plain, hex(tagOnly), hex('000005d4')])
    const before = Buffer.from(sent)
    expect(seal.openRtcp(sent, plain.length)).toBe(true)
    expect(sent).toEqual(before)
  })
})

describe('RFC 7714 §11', () => {
  it('derives keys from a salt of 12 octets as if zeros followed it', () => {
    const short = masterOf('AEAD_AES_128_GCM')
    const long: MasterKey = {
      suite: 'AES_CM_128_HMAC_SHA1_80',
      key: Buffer.concat([short.key, Buffer.alloc(2)]),
    }
    for (const kind of ['rtp', 'rtcp'] as const) {
      expect(deriveKeys(short, kind).encryption).toEqual(deriveKeys(long, kind).encryption)
      expect(deriveKeys(short, kind).salt).toEqual(deriveKeys(long, kind).salt.subarray(0, 12))
    }
  })
})

describe('RFC 3711 appendix B', () => {
  it('gives the keys derived here', () => {
    const { encryption, authentication, salt } = deriveKeys(vector, 'rtp')
    expect(encryption).toEqual(hex('C61E7A93744F39EE10734AFE3FF7A087'))
    expect(salt).toEqual(hex('30CBBC08863D8C85D49DB34A9AE1'))
    expect(authentication).toEqual(hex('CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4'))
  })

  it('gives the key stream of the cipher here', () => {
    const encryption = hex('2B7E151628AED2A6ABF7158809CF4F3C')
    const cipher = new Cipher({ encryption, salt: hex('F0F1F2F3F4F5F6F7F8F9FAFBFCFD') })
    const stream = Buffer.alloc(48)
    cipher.apply(stream, 0, 48, { ssrc: 0, upper: 0, lower: 0 })
    expect(stream).toEqual(
      hex(
        'E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0',
      ),
    )
  })
})

describe.each(counterSuites)('%s', (suite) => {
  const { keyBytes, tagBytes } = suites[suite]

  it('protects a packet like a cipher and an HMAC of node:crypto', () => {
    const master = masterOf(suite)
    const { send } = ends(master)
    const { encryption, authentication, salt } = deriveKeys(master, 'rtp')
    send(packetOf(65_535))
    // With a source, an extension and padding, after a rollover.
    const packet = Buffer.concat([
      packetOf(65_536, { payload: Buffer.alloc(0) }),
      hex('00000009 bede0001 00000000'),
      Buffer.alloc(33, 5),
    ])
    packet.writeUInt8(0x80 | 0x20 | 0x10 | 1, 0)
    const counter = Buffer.concat([salt, Buffer.alloc(2)])
    for (const [at, word] of [
      [4, 7],
      [8, 1],
    ] as const)
      counter.writeUInt32BE((counter.readUInt32BE(at) ^ word) >>> 0, at)
    const encrypted = createCipheriv(`aes-${keyBytes * 8}-ctr`, encryption, counter).update(
      packet.subarray(24),
    )
    const plain = Buffer.concat([packet.subarray(0, 24), encrypted])
    const tag = createHmac('sha1', authentication).update(plain).update(hex('00000001')).digest()
    expect(send(packet)).toEqual(Buffer.concat([plain, tag.subarray(0, tagBytes)]))
  })

  it('protects a report like them', () => {
    const master = masterOf(suite)
    const report = toCompound({ ssrc: 9, cname: 'far', sender: undefined, block: undefined, isBye: false })
    const sender = new SrtcpSender(master)
    sender.protect(report)
    const { encryption, authentication, salt } = deriveKeys(master, 'rtcp')
    const counter = Buffer.concat([salt, Buffer.alloc(2)])
    for (const [at, word] of [
      [4, 9],
      [10, 1],
    ] as const)
      counter.writeUInt32BE((counter.readUInt32BE(at) ^ word) >>> 0, at)
    const encrypted = createCipheriv(`aes-${keyBytes * 8}-ctr`, encryption, counter).update(
      report.subarray(8),
    )
    const plain = Buffer.concat([report.subarray(0, 8), encrypted, hex('80000001')])
    const tag = createHmac('sha1', authentication).update(plain).digest()
    expect(sender.protect(report)).toEqual(Buffer.concat([plain, tag.subarray(0, 10)]))
  })
})

describe.each(suiteNames)('%s', (suite) => {
  it('rejects a packet and a report with one bit changed, then accepts the original', () => {
    const master = masterOf(suite)
    const { send, hear } = ends(master)
    const report = toCompound({ ssrc: 9, cname: 'far', sender: undefined, block: undefined, isBye: false })
    const control = new SrtcpReceiver(master)
    const pairs = [
      [send(packetOf(1)), packetOf(1), hear],
      [new SrtcpSender(master).protect(report), report, (one: Buffer) => control.unprotect(Buffer.from(one))],
    ] as const
    for (const [sent, plain, take] of pairs) {
      for (let bit = 0; bit < sent.length * 8; bit += 1) {
        const changed = Buffer.from(sent)
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        expect(take(changed)).toBe('forged')
      }
      expect(take(sent.subarray(0, 11))).toBe('forged')
      expect(take(sent)).toEqual(plain)
      expect(take(sent)).toBe('replayed')
    }
  })
})

describe('over a network that loses, delays and repeats packets', () => {
  it.each([1, 2, 3])(
    'takes each packet once, over three rollovers, unless it is older than 64: seed %i',
    (seed) => {
      const { send, hear } = ends()
      const below = createRandomBelow(seed)
      const first = 65_536 - 40
      let highest = 0
      const taken = new Set<number>()
      const waiting: { readonly at: number; readonly index: number; readonly datagram: Buffer }[] = []
      for (let count = 0; count < 1200; count += 1) {
        // The network loses thousands of packets at a time, so that the numbers soon wrap.
        const index = first + count * 170
        const datagram = send(packetOf(index, { payload: Buffer.from([count & 0xff]) }))
        for (const copies of [0, 1])
          waiting.push({ at: count + below(3) + copies * below(8), index, datagram })
        for (const one of waiting.filter(({ at }) => at === count)) {
          const heard = hear(one.datagram)
          const isOld = taken.has(one.index) || one.index <= highest - 64
          expect(heard).toEqual(
            isOld
              ? 'replayed'
              : packetOf(one.index, { payload: Buffer.from([((one.index - first) / 170) & 0xff]) }),
          )
          if (isOld) continue
          taken.add(one.index)
          highest = Math.max(highest, one.index)
        }
      }
      expect(highest).toBeGreaterThan(3 * 65_536)
    },
  )

  it('accepts late packets from before a rollover, each once', () => {
    const { send, hear } = ends()
    const datagrams = new Map(
      [65_500, 65_530, 65_535, 65_536, 65_540].map((index) => [index, send(packetOf(index))]),
    )
    const heard = [65_500, 65_536, 65_535, 65_540, 65_530, 65_535].map((index) =>
      hear(datagrams.get(index) ?? Buffer.alloc(0)),
    )
    expect(heard.map((one) => typeof one)).toEqual([
      'object',
      'object',
      'object',
      'object',
      'object',
      'string',
    ])
  })

  it('takes a stream whose first packets were lost with the rollover', () => {
    const { send, hear } = ends()
    send(packetOf(65_535))
    const packet = packetOf(65_540)
    expect(hear(send(packet))).toEqual(packet)
    expect(hear(send(packetOf(65_541)))).toEqual(packetOf(65_541))
  })

  it('counts each source for itself, and keeps a bounded number of them', () => {
    const { send, hear } = ends()
    for (let ssrc = 1; ssrc <= 16; ssrc += 1)
      expect(hear(send(packetOf(65_535, { ssrc })))).toBeInstanceOf(Buffer)
    for (let ssrc = 1; ssrc <= 16; ssrc += 1)
      expect(hear(send(packetOf(65_536, { ssrc })))).toBeInstanceOf(Buffer)
    // The sender stops, since it forgets no source whose numbers might be used again.
    expect(send(packetOf(1, { ssrc: 17 }))).toHaveLength(0)
  })
})

describe('a master key identifier', () => {
  const plain = masterOf('AES_CM_128_HMAC_SHA1_80')
  const report = toCompound({ ssrc: 9, cname: 'far', sender: undefined, block: undefined, isBye: false })

  it.each(['01', '00000005', 'ff00'])(
    '%s stands before the tag, which is not over it (RFC 3711 §3.1)',
    (octets) => {
      const master = { ...plain, mki: hex(octets) }
      const [bare, marked] = [ends(plain), ends(master)]
      const pairs = [
        [bare.send(packetOf(1)), marked.send(packetOf(1))],
        [new SrtcpSender(plain).protect(report), new SrtcpSender(master).protect(report)],
      ] as const
      for (const [without, with_] of pairs)
        expect(with_).toEqual(Buffer.concat([without.subarray(0, -10), hex(octets), without.subarray(-10)]))
      expect(marked.hear(pairs[0][1])).toEqual(packetOf(1))
      expect(marked.hear(pairs[0][1])).toBe('replayed')
      expect(new SrtcpReceiver(master).unprotect(pairs[1][1])).toEqual(report)
    },
  )

  it('is the last field in AES-GCM (RFC 7714 §8 and §9)', () => {
    const bare = masterOf('AEAD_AES_256_GCM')
    const master = { ...bare, mki: hex('0007') }
    const [without, marked] = [ends(bare), ends(master)]
    const sent = marked.send(packetOf(1))
    expect(sent).toEqual(Buffer.concat([without.send(packetOf(1)), hex('0007')]))
    expect(marked.hear(sent)).toEqual(packetOf(1))
    const reported = new SrtcpSender(master).protect(report)
    expect(reported).toEqual(Buffer.concat([new SrtcpSender(bare).protect(report), hex('0007')]))
    expect(new SrtcpReceiver(master).unprotect(reported)).toEqual(report)
  })

  it('that is different or missing rejects the packet, which is left unchanged', () => {
    const { send, hear, receiver } = ends({ ...plain, mki: hex('0001') })
    const sent = send(packetOf(1))
    for (const at of [-12, -11]) {
      const changed = Buffer.from(sent)
      changed.writeUInt8((changed.at(at) ?? 0) ^ 1, changed.length + at)
      expect(hear(changed)).toBe('forged')
    }
    for (const datagram of [ends(plain).send(packetOf(1)), sent.subarray(0, 11), hex('8000')])
      expect(hear(datagram)).toBe('forged')
    const forged = Buffer.from(sent)
    forged.writeUInt8(forged.readUInt8(20) ^ 1, 20)
    const before = Buffer.from(forged)
    expect(receiver.unprotect(forged)).toBe('forged')
    expect(forged).toEqual(before)
    expect(hear(sent)).toEqual(packetOf(1))
  })
})

describe('a sender', () => {
  it('uses no number twice, so that no key stream protects two payloads', () => {
    const { send } = ends()
    expect(send(packetOf(100))).not.toHaveLength(0)
    expect(send(packetOf(100, { payload: Buffer.alloc(160, 1) }))).toHaveLength(0)
    expect(send(packetOf(99))).not.toHaveLength(0)
    expect(send(packetOf(99))).toHaveLength(0)
    send(packetOf(200))
    expect(send(packetOf(136))).toHaveLength(0)
  })

  it('sends nothing that is not a packet, or longer than one', () => {
    const { send } = ends()
    expect(send(Buffer.alloc(11))).toHaveLength(0)
    expect(send(packetOf(1, { payload: Buffer.alloc(1500) }))).toHaveLength(0)
  })
})

describe('a new key', () => {
  const next = masterOf('AES_CM_128_HMAC_SHA1_80', 2)
  const old = ends()
  for (const index of [65_535, 65_536]) old.hear(old.send(packetOf(index)))

  it.each([
    ['goes on with the rollover counter of the stream, as RFC 3711 §3.3.1 has it', 65_536],
    ['begins with a new one, as most do', 0],
  ])('is taken from a far end that %s', (_, from) => {
    const sender = new SrtpSender(next)
    const to = Buffer.alloc(1600)
    // Its rollover counter is as under the old key.
    if (from > 0) sender.protect(packetOf(65_535), 172, to)
    const packet = packetOf(from + 2000)
    const datagram = Buffer.from(to.subarray(0, sender.protect(packet, packet.length, to)))
    expect(new SrtpReceiver(next).unprotect(Buffer.from(datagram))).toEqual(from > 0 ? 'forged' : packet)
    expect(new SrtpReceiver(next, old.receiver).unprotect(datagram)).toEqual(packet)
  })
})
