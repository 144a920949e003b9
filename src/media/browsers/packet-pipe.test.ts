// Packets over one stream, in whatever pieces the stream delivers them.
import { Duplex, duplexPair } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { PacketPipe } from './packet-pipe.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function frameOf(peer: number, packet: Uint8Array): Buffer {
  const head = Buffer.alloc(6)
  head.writeUInt32BE(peer, 0)
  head.writeUInt16BE(packet.length, 4)
  return Buffer.concat([head, packet])
}

/** Returns a stream whose other end is the test. */
function piped() {
  const [near, far] = duplexPair()
  const heard: { readonly peer: number; readonly packet: string }[] = []
  const pipe = new PacketPipe(near)
  const onPacket = (peer: number, packet: Buffer): void =>
    void heard.push({ peer, packet: packet.toString() })
  return { near, far, pipe, heard, onPacket }
}

describe('packets that are read', () => {
  const stream = Buffer.concat([
    frameOf(7, Buffer.from('one')),
    frameOf(2 ** 32 - 1, Buffer.from('two')),
    frameOf(7, Buffer.alloc(0)),
  ])
  const packets = [
    { peer: 7, packet: 'one' },
    { peer: 2 ** 32 - 1, packet: 'two' },
    { peer: 7, packet: '' },
  ]

  it.each([1, 2, 5, 6, 7, 11, 100])('come whole from pieces of %i octets', async (bytes) => {
    const { far, pipe, heard, onPacket } = piped()
    pipe.listen(onPacket)
    for (let at = 0; at < stream.length; at += bytes) {
      far.write(stream.subarray(at, at + bytes))
      await turn()
    }
    expect(heard).toEqual(packets)
  })

  it('begin with what was read of the stream before', async () => {
    const { far, pipe, heard, onPacket } = piped()
    pipe.listen(onPacket, stream.subarray(0, 12))
    expect(heard).toEqual(packets.slice(0, 1))
    far.write(stream.subarray(12))
    await turn()
    expect(heard).toEqual(packets)
  })

  it('end with the first one that is longer than any: the framing is lost', async () => {
    const { near, far, pipe, heard, onPacket } = piped()
    near.on('error', () => undefined)
    pipe.listen(onPacket)
    far.write(
      Buffer.concat([frameOf(7, Buffer.from('one')), Buffer.from('00000007ffff', 'hex'), Buffer.alloc(100)]),
    )
    await turn()
    expect(near.destroyed).toBe(true)
    expect(heard).toEqual(packets.slice(0, 1))
  })
})

describe('packets that are sent', () => {
  it('in one turn go out together, each a copy', async () => {
    const { far, pipe } = piped()
    const chunks: Buffer[] = []
    far.on('data', (chunk: Buffer) => chunks.push(chunk))
    const packet = Buffer.from('one and more')
    expect(pipe.send(7, packet, 3)).toBe(true)
    packet.fill('x')
    expect(pipe.send(8, Buffer.from('two'))).toBe(true)
    await turn()
    await turn()
    expect(chunks).toEqual([Buffer.concat([frameOf(7, Buffer.from('one')), frameOf(8, Buffer.from('two'))])])
  })

  it('are dropped where they are longer than any, or the stream has ended', () => {
    const { near, pipe } = piped()
    expect(pipe.send(7, Buffer.alloc(2049))).toBe(false)
    near.destroy()
    expect(pipe.send(7, Buffer.alloc(10))).toBe(false)
    expect(pipe.dropped).toBe(2)
  })

  it('are dropped while the reader is a megabyte behind, and taken again when it is not', async () => {
    let release = (): void => undefined
    const slow = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => void (release = done),
    })
    const pipe = new PacketPipe(slow)
    let sent = 0
    while (pipe.send(7, Buffer.alloc(1500))) {
      sent += 1
      if (sent % 100 === 0) await turn()
      if (sent > 10_000) throw new Error('nothing bounds it')
    }
    expect(sent * 1506).toBeGreaterThan(1_000_000)
    expect(pipe.dropped).toBe(1)
    while (slow.writableLength > 0) {
      release()
      await turn()
    }
    expect(pipe.send(7, Buffer.alloc(1500))).toBe(true)
  })
})
