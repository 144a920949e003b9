// Two far ends that send their sound to each other: what the platform offers them, and that it neither sends nor
// times out then.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePorts } from '../../test/support/ports.ts'
import { RtpPeer } from '../../test/support/rtp-peer.ts'
import { Inbox, until } from '../../test/support/wait.ts'
import { silentLogger } from '../lib/log.ts'
import { createMedia } from './create-media.ts'
import type { Media, MediaEvent, MediaSession } from './media.ts'
import { toCompound } from './rtp/rtcp.ts'

let directory: string
let media: Media
const peers: RtpPeer[] = []

interface Leg {
  readonly peer: RtpPeer
  readonly session: MediaSession
  readonly events: Inbox<MediaEvent>
}

const silenceMs = 400

async function legOf(offer: Parameters<RtpPeer['offer']>[0] = {}): Promise<Leg> {
  const peer = await RtpPeer.open()
  peers.push(peer)
  const session = await media.open()
  session.face('127.0.0.1')
  const events = new Inbox<MediaEvent>()
  session.onEvent((event) => events.push(event))
  await session.answer(peer.offer(offer))
  return { peer, session, events }
}

/** Offers each far end the place of the other. Both answer with their own, and the platform stops sending. */
async function introduce(a: Leg, b: Leg): Promise<readonly [string, string]> {
  const toA = a.session.reoffer({ past: b.session.place })
  expect(await a.session.acceptAnswer(a.peer.offer())).toMatchObject({ isPast: true, isHeld: false })
  const toB = b.session.reoffer({ past: a.session.place })
  expect(await b.session.acceptAnswer(b.peer.offer())).toMatchObject({ isPast: true, isHeld: false })
  await Promise.all([a.session.goPast(true), b.session.goPast(true)])
  return [toA, toB]
}

beforeEach(async () => {
  const free = await freePorts(41)
  directory = await mkdtemp(join(tmpdir(), 'far-place-'))
  media = createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: free + (free % 2), last: free + (free % 2) + 39 },
    workers: 1,
    limits: { mediaMs: silenceMs, heldMs: silenceMs },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
  })
  await media.start()
})

afterEach(async () => {
  await media.stop()
  await Promise.all(peers.splice(0).map((peer) => peer.close()))
  await rm(directory, { recursive: true })
})

describe('an offer that names the place of another far end', () => {
  it('has its address, ports and payload types, and nothing else from its SDP', async () => {
    const a = await legOf()
    const b = await legOf({ payloads: '8 0 96', lines: ['a=rtpmap:96 telephone-event/8000', 'a=x-secret:1'] })
    const [toA, toB] = await introduce(a, b)
    const lines = (sdp: string): string[] => sdp.trim().split('\r\n').slice(1)
    expect(lines(toA)).toEqual([
      expect.stringMatching(/^o=- \d+ 2 IN IP4 127\.0\.0\.1$/),
      's=-',
      'c=IN IP4 127.0.0.1',
      't=0 0',
      `m=audio ${b.peer.port} RTP/AVP 8 0 96`,
      'a=rtpmap:8 PCMA/8000',
      'a=rtpmap:0 PCMU/8000',
      'a=rtpmap:96 telephone-event/8000',
      'a=fmtp:96 0-15',
      `a=rtcp:${b.peer.rtcpPort} IN IP4 127.0.0.1`,
      'a=ptime:20',
      'a=maxptime:150',
      'a=sendrecv',
    ])
    expect(toB).toContain(`m=audio ${a.peer.port} RTP/AVP 0 8 101`)
    expect(toB).toContain(`a=rtcp:${a.peer.rtcpPort} IN IP4 127.0.0.1`)
  })

  it('has only the codecs that both speak', async () => {
    const a = await legOf({ payloads: '0 101' })
    const b = await legOf({ payloads: '8 0' })
    expect(a.session.reoffer({ past: b.session.place })).toContain(`m=audio ${b.peer.port} RTP/AVP 0\r\n`)
  })

  it('is not made for a far end that holds, or that may not be sent to', async () => {
    const [a, b] = [await legOf(), await legOf({ lines: ['a=sendonly'] })]
    expect(b.session.place).toBeUndefined()
    expect(() => b.session.reoffer({ past: a.session.place })).toThrow('the far end takes no stream')
    const barred = await media.open({ maySendTo: () => false })
    await barred.answer(a.peer.offer())
    expect(barred.place).toBeUndefined()
  })

  it('that is refused leaves everything as it was', async () => {
    const [a, b] = [await legOf(), await legOf()]
    a.session.reoffer({ past: b.session.place })
    const { port } = a.session
    expect((await a.session.answer(a.peer.offer())).sdp).toContain(`m=audio ${port} `)
    expect(a.session.reoffer()).toContain(`m=audio ${port} `)
  })
})

describe('a session whose far end sends past us', () => {
  it('sends nothing, and takes no silence for the end of the call', async () => {
    const [a, b] = [await legOf(), await legOf()]
    await until('packets to both', () => [a, b].every(({ peer }) => peer.heard.items.length > 2))
    await introduce(a, b)
    await Promise.all([a.peer.caughtUp(), b.peer.caughtUp()])
    const counts = (): number[] => [a, b].map(({ peer }) => peer.heard.items.length)
    const before = counts()
    const timeouts = (): number => [a, b].flatMap(({ events }) => events.items).filter(isTimeout).length
    const former = timeouts()
    await setTimeout(3 * silenceMs)
    expect(counts()).toEqual(before)
    expect(timeouts()).toBe(former)
  })

  it('is offered our place again: packets flow, and silence counts from then on, unless there are reports', async () => {
    const [a, b] = [await legOf(), await legOf()]
    await introduce(a, b)
    const offer = a.session.reoffer()
    expect(offer).toContain(`m=audio ${a.session.port} `)
    const heard = a.peer.heard.items.length
    expect(await a.session.acceptAnswer(a.peer.offer())).toMatchObject({ isPast: false })
    // The other far end may have sent to it until now.
    await a.session.goPast(false)
    await until('packets', () => a.peer.heard.items.length > heard + 5)
    const report = toCompound({ ssrc: 1, cname: 'x', sender: undefined, block: undefined, isBye: false })
    const former = a.events.items.filter(isTimeout).length
    for (let count = 0; count < 10; count += 1) {
      a.peer.sendReport(a.session.port + 1, report)
      await setTimeout(silenceMs / 4)
    }
    expect(a.events.items.filter(isTimeout).length).toBe(former)
    await until('the silence to be noticed', () => a.events.items.filter(isTimeout).length > former)
  })

  it('answers an offer that only refreshes the session with the place of the other, and takes any other back', async () => {
    const [a, b] = [await legOf(), await legOf()]
    await introduce(a, b)
    const same = await a.session.answer(a.peer.offer())
    expect(same.isPast).toBe(true)
    expect(same.sdp).toContain(`m=audio ${b.peer.port} RTP/AVP 0 101`)
    const held = await a.session.answer(a.peer.offer({ lines: ['a=sendonly'] }))
    expect(held).toMatchObject({ isPast: false, isHeld: true })
    expect(held.sdp).toContain(`m=audio ${a.session.port} `)
  })

  it('speaks with us in the codec that the two have agreed on, also where it had another one before', async () => {
    const [a, b] = [await legOf({ payloads: '0 8' }), await legOf({ payloads: '8' })]
    const toA = a.session.reoffer({ past: b.session.place })
    expect(toA).toContain(`m=audio ${b.peer.port} RTP/AVP 8\r\n`)
    expect((await a.session.acceptAnswer(a.peer.offer({ payloads: '8' }))).codec).toBe('PCMA')
    expect(a.session.reoffer()).toContain(`m=audio ${a.session.port} RTP/AVP 8\r\n`)
    expect((await a.session.acceptAnswer(a.peer.offer({ payloads: '8' }))).codec).toBe('PCMA')
  })
})

function isTimeout({ type }: MediaEvent): boolean {
  return type === 'timeout'
}
