import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { slice, tone, toneShare, toWav } from '../../test/support/audio.ts'
import { freePorts } from '../../test/support/ports.ts'
import { RtpPeer } from '../../test/support/rtp-peer.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { silentLogger } from '../lib/log.ts'
import { createMedia } from './create-media.ts'
import type { Media, MediaEvent, MediaSession } from './media.ts'
import { toCompound } from './rtp/rtcp.ts'

let firstPort: number
let directory: string
let sine: string
let media: Media
const peers: RtpPeer[] = []

async function start(options: Partial<Parameters<typeof createMedia>[0]> = {}): Promise<void> {
  media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: firstPort, last: firstPort + 39 },
    workers: 1,
    limits: { mediaMs: 0, heldMs: 0 },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
    ...options,
  })
  await media.start()
}

async function peerAt(address?: string): Promise<RtpPeer> {
  const peer = await RtpPeer.open(address)
  peers.push(peer)
  return peer
}

interface Leg {
  readonly session: MediaSession
  readonly events: Inbox<MediaEvent>
}

/** `sip` is the address that its signalling comes from. */
async function legOf(sip = '127.0.0.1'): Promise<Leg> {
  const session = await media.open()
  session.face(sip)
  const events = new Inbox<MediaEvent>()
  session.onEvent((event) => events.push(event))
  return { session, events }
}

const digitsOf = ({ events }: Leg): string =>
  events.items.map((event) => (event.type === 'digit' ? event.digit : '')).join('')

/** Sends in real time until `isOver`. The latch judges a stream by the timing of its packets. */
async function every20Ms(send: () => void, isOver: () => boolean): Promise<void> {
  for (let round = 0; round < 2000; round += 1) {
    if (isOver()) return
    send()
    await setTimeout(20)
  }
  throw new Error('gave up after 2,000 packets')
}

const forMs = (ms: number): (() => boolean) => {
  const end = performance.now() + ms
  return () => performance.now() >= end
}

beforeAll(async () => {
  const free = await freePorts(41)
  firstPort = free + (free % 2)
  directory = await mkdtemp(join(tmpdir(), 'far-end-'))
  sine = join(directory, 'sine.wav')
  await writeFile(sine, toWav(tone(440, 1000)))
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

afterEach(async () => {
  await media.stop()
  await Promise.all(peers.splice(0).map((peer) => peer.close()))
})

describe('a stranger that sprays over the ports', () => {
  it.each([
    [
      'other port than its SDP says',
      (phone: RtpPeer) => phone.offer().replace(`m=audio ${phone.port}`, 'm=audio 9'),
    ],
    ['other address than its SDP says', (phone: RtpPeer) => phone.offer({ address: '10.0.0.5' })],
  ])('is never heard, nor its digits, before a phone with an %s', async (_name, offerOf) => {
    await start()
    const [phone, stranger] = [await peerAt(), await peerAt('127.0.0.66')]
    const legs = await Promise.all(Array.from({ length: 10 }, () => legOf()))
    const spray = (): void => {
      for (const { session } of legs) stranger.send(session.port)
    }
    spray()
    for (const { session } of legs) await session.answer(offerOf(phone))
    await every20Ms(spray, () => legs.every(({ events }) => events.items.length > 0))
    for (const { session } of legs) stranger.press(session.port, 6, 5)
    await every20Ms(spray, forMs(150))
    for (const leg of legs) expect(leg.events.items.map(({ type }) => type)).toEqual(['ignored'])
    for (const { session } of legs) {
      phone.send(session.port)
      phone.press(session.port, 1, 5)
      stranger.press(session.port, 6, 5)
    }
    await until('the digits of the phone', () => legs.every((leg) => digitsOf(leg) !== ''))
    await phone.heard.next('our packets', () => true)
    expect(legs.map(digitsOf)).toEqual(Array<string>(10).fill('1'))
    expect(stranger.heard.items).toEqual([])
  })

  it('is dropped for a phone whose NAT has several addresses, which is heard after 2 s', async () => {
    await start()
    const [phone, stranger] = [await peerAt('127.0.0.7'), await peerAt('127.0.0.66')]
    const leg = await legOf()
    const { session, events } = leg
    await session.answer(phone.offer({ address: '10.0.0.5' }))
    const begun = performance.now()
    let ssrc = 1
    await every20Ms(
      () => {
        stranger.send(session.port, { ssrc: (ssrc += 1) })
        phone.send(session.port)
      },
      () => events.items.some(({ type }) => type === 'first-packet'),
    )
    expect(performance.now() - begun).toBeGreaterThan(2000)
    expect(events.items.at(-1)).toEqual({
      type: 'first-packet',
      address: '127.0.0.7',
      port: phone.port,
      trust: 'behind-nat',
    })
    stranger.press(session.port, 6, 5)
    phone.press(session.port, 2, 5)
    await until('the digit of the phone', () => digitsOf(leg) !== '')
    expect(digitsOf(leg)).toBe('2')
  })

  it('does not get the stream while the phone is silent', async () => {
    await start()
    const [phone, stranger] = [await peerAt(), await peerAt('127.0.0.66')]
    const neighbour = await peerAt()
    const leg = await legOf()
    const { session, events } = leg
    await session.answer(phone.offer({ address: '10.0.0.5' }))
    phone.send(session.port)
    await events.next('the phone', ({ type }) => type === 'first-packet')
    await every20Ms(() => {
      stranger.send(session.port, { ssrc: 98 })
      neighbour.send(session.port, { ssrc: 99 })
    }, forMs(3500))
    stranger.press(session.port, 6, 5)
    neighbour.press(session.port, 7, 5)
    phone.press(session.port, 3, 5)
    await until('the digit of the phone', () => digitsOf(leg) !== '')
    expect(digitsOf(leg)).toBe('3')
    expect([stranger.heard.items, neighbour.heard.items]).toEqual([[], []])
    expect(events.items.filter(({ type }) => type === 'ignored')).toHaveLength(2)
    expect((await session.close()).packetsIgnored).toBeGreaterThan(100)
  })
})

describe('an answer to our offer', () => {
  it('makes every codec that it kept and digits under both payload types accepted', async () => {
    await start()
    const peer = await peerAt()
    const leg = await legOf()
    const { session } = leg
    await session.offer()
    const lines = ['a=rtpmap:96 telephone-event/8000']
    await session.acceptAnswer(peer.offer({ payloads: '0 8 96', lines }))
    peer.send(session.port, { payloadType: 8 })
    peer.send(session.port, { payloadType: 0 })
    peer.send(session.port, { payloadType: 18 })
    peer.press(session.port, 1, 5, 101)
    peer.press(session.port, 2, 5, 96)
    await until('both digits', () => digitsOf(leg) === '12')
    const stats = await until('the rest of the key', async () => {
      const now = await session.stats()
      return now.packetsReceived >= 16 ? now : undefined
    })
    expect(stats.packetsReceived).toBe(16)
  })
})

describe('a far end that takes packets of 10 ms at most', () => {
  it('hears the same sound in twice as many packets', async () => {
    await start()
    const peer = await peerAt()
    const { session } = await legOf()
    await session.answer(peer.offer({ payloads: '0', lines: ['a=ptime:10', 'a=maxptime:10'] }))
    expect((await session.play({ clip: { path: sine } })).playedMs).toBe(1000)
    await session.close()
    await peer.caughtUp()
    const [first] = peer.heard.items
    for (const [index, { payload, sequence, timestamp }] of peer.heard.items.slice(0, 40).entries()) {
      expect(payload.length).toBe(80)
      expect((sequence - (first?.sequence ?? 0)) & 0xffff).toBe(index)
      // Whole ticks may be skipped on a busy machine.
      expect(((timestamp - (first?.timestamp ?? 0)) >>> 0) % 160).toBe(index % 2 === 0 ? 0 : 80)
    }
    const audio = peer.audio('PCMU', 0)
    const begin = audio.samples.findIndex((sample) => Math.abs(sample) > 0.05) / 8
    expect(toneShare(slice(audio, begin, begin + 990), 440)).toBeGreaterThan(0.98)
  })
})

describe('the addresses of SDP and packets', () => {
  it.each([
    ['127.0.0.5', '127.0.0.1', '127.0.0.5'],
    ['0.0.0.0', '127.0.0.3', '127.0.0.1'],
    ['::', '127.0.0.3', '127.0.0.1'],
    ['::', '::1', '::1'],
    ['::1', '::1', '::1'],
  ])('agree on %s towards %s', async (bind, at, ours) => {
    await start({ bind })
    const peer = await peerAt(at)
    const { session, events } = await legOf(at)
    const { sdp } = await session.answer(peer.offer())
    expect(sdp).toContain(`c=IN ${at.includes(':') ? 'IP6' : 'IP4'} ${ours}\r\n`)
    expect(session.address).toBe(ours)
    const { fromAddress } = await peer.heard.next('a packet', () => true)
    expect(fromAddress).toBe(ours)
    if (bind !== '127.0.0.5') {
      peer.send(session.port)
      expect(await events.next('its packet', () => true)).toMatchObject({ address: at, trust: 'sdp' })
    }
  })
})

describe('the time-out', () => {
  const report = toCompound({ ssrc: 1, cname: 'x', sender: undefined, block: undefined, isBye: false })

  it('counts RTCP as life, has another limit for a far end that holds, and is reported again', async () => {
    await start({ limits: { mediaMs: 1500, heldMs: 3000 } })
    const [talking, holding, listening] = [await peerAt(), await peerAt(), await peerAt()]
    const [silent, held, idle] = [await legOf(), await legOf(), await legOf()]
    await held.session.answer(holding.offer({ lines: ['a=sendonly'] }))
    await idle.session.answer(listening.offer({ lines: ['a=recvonly'] }))
    await silent.session.answer(talking.offer())
    await every20Ms(() => talking.sendReport(silent.session.port + 1, report), forMs(3600))
    expect(silent.events.items).toEqual([])
    for (const { events } of [held, idle])
      expect(events.items).toMatchObject([{ type: 'timeout', cause: 'held', limitMs: 3000 }])
    await until('two time-outs', () => silent.events.items.length === 2)
    const [first, second] = silent.events.items
    expect(first).toMatchObject({ type: 'timeout', cause: 'silent', limitMs: 1500 })
    expect(second).toMatchObject({ type: 'timeout', cause: 'silent', limitMs: 1500 })
    if (first?.type === 'timeout' && second?.type === 'timeout')
      expect(second.silentMs - first.silentMs).toBeGreaterThanOrEqual(1500)
  })

  it('is put off by signs of life in signalling, and begins again after a hold', async () => {
    await start({ limits: { mediaMs: 1000, heldMs: 0 } })
    const peer = await peerAt()
    const { session, events } = await legOf()
    await session.answer(peer.offer())
    await every20Ms(() => session.live(), forMs(2200))
    expect(events.items).toEqual([])
    await session.answer(peer.offer({ lines: ['a=inactive'] }))
    await setTimeout(1500)
    expect(events.items).toEqual([])
    const resumed = performance.now()
    await session.answer(peer.offer())
    await events.next('the time-out', ({ type }) => type === 'timeout')
    expect(performance.now() - resumed).toBeGreaterThan(900)
  })
})
