import { createSocket } from 'node:dgram'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rms, slice, tone, toneShare, toWav, type Audio } from '../../test/support/audio.ts'
import { freePorts } from '../../test/support/ports.ts'
import { startRecorder } from '../../test/support/rtp-recorder.ts'
import { RtpPeer } from '../../test/support/rtp-peer.ts'
import { Inbox, until, within } from '../../test/support/wait.ts'
import { silentLogger } from '../lib/log.ts'
import { createMedia } from './create-media.ts'
import type { Media, MediaEvent, MediaSession } from './media.ts'
import { toCompound } from './rtp/rtcp.ts'

let directory: string
let sine: string
let media: Media
const peers: RtpPeer[] = []

// The first port of 100 pairs.
let firstPort: number

function mediaWith(options: Partial<Parameters<typeof createMedia>[0]> = {}): Media {
  return createMedia({
    bind: '127.0.0.1',
    publicAddress: undefined,
    ports: { first: firstPort, last: firstPort + 199 },
    workers: 1,
    limits: { mediaMs: 60_000, heldMs: 60_000 },
    scratchDir: join(directory, 'scratch'),
    log: silentLogger,
    ...options,
  })
}

async function peerOf(): Promise<RtpPeer> {
  const peer = await RtpPeer.open()
  peers.push(peer)
  return peer
}

function eventsOf(session: MediaSession): Inbox<MediaEvent> {
  const events = new Inbox<MediaEvent>()
  session.onEvent((event) => events.push(event))
  return events
}

function soundStartMs({ samples }: Audio): number {
  return samples.findIndex((sample) => Math.abs(sample) > 0.05) / 8
}

beforeAll(async () => {
  // RTP uses the even ones.
  const free = await freePorts(201)
  firstPort = free + (free % 2)
  directory = await mkdtemp(join(tmpdir(), 'media-'))
  sine = join(directory, 'sine.wav')
  await writeFile(sine, toWav(tone(440, 1000)))
  await writeFile(join(directory, 'wide.wav'), toWav(tone(1000, 1000, { sampleRate: 44_100 })))
  await writeFile(join(directory, 'long.wav'), toWav(tone(440, 20_000)))
  await writeFile(join(directory, 'page.wav'), '<html>404 Not Found</html>')
})

afterAll(async () => {
  await rm(directory, { recursive: true })
})

beforeEach(async () => {
  media = mediaWith()
  await media.start()
})

afterEach(async () => {
  await media.stop()
  await Promise.all(peers.splice(0).map((peer) => peer.close()))
})

describe('an offer', () => {
  const offering = (line: string): string =>
    `v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 ${line}\r\n`

  it.each(['RTP/AVP 18', 'RTP/SAVP 0'])('of %s is refused before a session is opened for it', (line) => {
    const media = mediaWith()
    expect(() => media.demandServable(offering(line))).toThrow(
      expect.objectContaining({ code: 'media_not_acceptable' }),
    )
    expect(media.openSessions).toBe(0)
  })

  it('that can be served is let through', () => {
    expect(() => mediaWith().demandServable(offering('RTP/AVP 18 8'))).not.toThrow()
  })
})

describe('playback', () => {
  it.each([
    ['PCMU', '0 101', 0],
    ['PCMA', '8 101', 8],
  ] as const)(
    'is heard by a %s phone at the right length, pitch and level',
    async (law, payloads, payloadType) => {
      const peer = await peerOf()
      const session = await media.open()
      const { codec, isHeld } = await session.answer(peer.offer({ payloads }))
      expect({ codec, isHeld }).toEqual({ codec: law, isHeld: false })
      const result = await session.play({ clip: { path: sine } })
      expect(result).toEqual({ reason: 'completed', playedMs: 1000 })
      await session.close()
      await peer.caughtUp()
      const audio = peer.audio(law, payloadType)
      const start = soundStartMs(audio)
      const played = slice(audio, start, start + 995)
      expect(toneShare(played, 440)).toBeGreaterThan(0.98)
      expect(rms(played)).toBeCloseTo(0.3535, 1)
      expect(rms(slice(audio, start + 1005, start + 2000))).toBeLessThan(0.01)
    },
  )

  it('resamples a 44.1 kHz file', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    expect((await session.play({ clip: { path: join(directory, 'wide.wav') } })).playedMs).toBe(1000)
    await peer.caughtUp()
    const audio = peer.audio('PCMU', 0)
    const start = soundStartMs(audio)
    expect(toneShare(slice(audio, start, start + 900), 1000)).toBeGreaterThan(0.98)
  })

  it('begins at the offset', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    const result = await session.play({ clip: { path: sine }, offsetMs: 600 })
    expect(result).toEqual({ reason: 'completed', playedMs: 400 })
    expect(await session.play({ clip: { path: sine }, offsetMs: 5000 })).toEqual({
      reason: 'completed',
      playedMs: 0,
    })
  })

  it('plays to two phones at the same time without mixing them up', async () => {
    const [first, second] = [await peerOf(), await peerOf()]
    const sessions = [await media.open(), await media.open()] as const
    await sessions[0].answer(first.offer())
    await sessions[1].answer(second.offer({ payloads: '8' }))
    await Promise.all([
      sessions[0].play({ clip: { path: sine } }),
      sessions[1].play({ clip: { path: join(directory, 'wide.wav') } }),
    ])
    await Promise.all([first.caughtUp(), second.caughtUp()])
    const shareOf = (audio: Audio, hz: number): number => {
      const start = soundStartMs(audio)
      return toneShare(slice(audio, start + 100, start + 800), hz)
    }
    expect(shareOf(first.audio('PCMU', 0), 440)).toBeGreaterThan(0.9)
    expect(shareOf(second.audio('PCMA', 8), 1000)).toBeGreaterThan(0.9)
  })

  it('ends as stopped when its signal aborts, and the phone hears silence soon', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    const abort = new AbortController()
    const playing = session.play({ clip: { path: join(directory, 'long.wav') }, signal: abort.signal })
    await peer.heard.next('sound', ({ payload }) => payload[5] !== 0xff)
    const count = peer.heard.items.length
    abort.abort()
    const result = await playing
    expect(result.reason).toBe('stopped')
    expect(result.playedMs).toBeLessThan(10_000)
    await peer.heard.next('silence', ({ payload }) => payload.every((octet) => octet === 0xff), {
      from: count,
    })
    const loud = peer.heard.items
      .slice(count)
      .filter(({ payload }) => payload.some((octet) => octet !== 0xff))
    // The clip has a thousand packets. Some may be under way while the processor does something else.
    expect(loud.length).toBeLessThan(250)
  })

  it('begins with the answer to our offer, which comes later in an ACK, unless it is stopped or closed before', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.offer()
    const abort = new AbortController()
    const [stopped, played] = [abort.signal, undefined].map((signal) =>
      session.play({ clip: { path: sine }, ...(signal === undefined ? {} : { signal }) }),
    )
    abort.abort()
    expect(await stopped).toEqual({ reason: 'stopped', playedMs: 0 })
    await session.acceptAnswer(peer.offer())
    expect(await played).toMatchObject({ playedMs: 1000 })
    const other = await media.open()
    await other.offer()
    const closed = other.play({ clip: { path: sine } })
    await other.close()
    expect(await closed).toEqual({ reason: 'stopped', playedMs: 0 })
  })

  it('is ended by the next one, and by closing', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    const long = { clip: { path: join(directory, 'long.wav') } }
    const first = session.play(long)
    await peer.heard.next('a packet', () => true)
    const second = session.play(long)
    expect((await first).reason).toBe('stopped')
    await session.close()
    expect((await second).reason).toBe('stopped')
  })

  it('is repeated as often as it says, and followed by the next, without a silent packet or a mark between', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    const short = join(directory, 'short.wav')
    await writeFile(short, toWav(tone(400, 100)))
    const results = await Promise.all([
      session.play({ clip: { path: short }, rounds: 5 }),
      session.play({ clip: { path: sine }, follows: true, rounds: 2, offsetMs: 500 }),
      session.play({ clip: { path: short }, follows: true }),
    ])
    expect(results).toEqual([
      { reason: 'completed', playedMs: 500 },
      { reason: 'completed', playedMs: 1000 },
      { reason: 'completed', playedMs: 100 },
    ])
    await session.close()
    await peer.caughtUp()
    const heard = peer.heard.items
    const isLoud = ({ payload }: (typeof heard)[number]): boolean => payload.some((octet) => octet !== 0xff)
    const first = heard.findIndex(isLoud)
    const loud = heard.slice(first, first + 80)
    expect(loud.every(isLoud)).toBe(true)
    expect(heard.slice(first + 80).some(isLoud)).toBe(false)
    expect(loud.map(({ marker }) => marker)).toEqual([true, ...Array<boolean>(79).fill(false)])
    for (const [index, { sequence, timestamp }] of loud.entries()) {
      expect((sequence - (loud[0]?.sequence ?? 0)) & 0xffff).toBe(index)
      expect((timestamp - (loud[0]?.timestamp ?? 0)) >>> 0).toBe(index * 160)
    }
  })

  it('of a long clip is read from the disk in order, repeats without a gap, and leaves no file there', async () => {
    // Every 100 ms has a pitch of its own, which shows the position that was read.
    const pitches = Array.from({ length: 400 }, (_, index) => 300 + 10 * (index % 50))
    const samples = pitches.flatMap((pitch) => [...tone(pitch, 100).samples])
    const path = join(directory, 'pitches.wav')
    await writeFile(path, toWav({ sampleRate: 8000, samples: Float64Array.from(samples) }))
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    const abort = new AbortController()
    const playing = session.play({
      clip: { path },
      offsetMs: 36_000,
      rounds: Infinity,
      signal: abort.signal,
    })
    await until('a round and a half', () => peer.heard.items.length > 330)
    expect(readdirSync(join(directory, 'scratch', 'worker-0'))).toEqual(['1.frames'])
    abort.abort()
    const { missedMs } = await playing
    expect(missedMs).toBeUndefined()
    const audio = peer.audio('PCMU', 0)
    const start = soundStartMs(audio)
    for (let index = 0; index < 60; index += 1) {
      const pitch = pitches[360 + (index % 40)] ?? 0
      const heard = slice(audio, start + 100 * index + 10, start + 100 * index + 90)
      expect(toneShare(heard, pitch), `the part ${index}`).toBeGreaterThan(0.9)
    }
    await media.stop()
    expect(existsSync(join(directory, 'scratch'))).toBe(false)
  })

  it('refuses what is not audio, and what is not there', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    await expect(session.play({ clip: { path: join(directory, 'page.wav') } })).rejects.toMatchObject({
      code: 'audio_not_supported',
    })
    await expect(session.play({ clip: { path: directory } })).rejects.toMatchObject({
      code: 'audio_not_supported',
    })
    await expect(session.play({ clip: { path: join(directory, 'none.wav') } })).rejects.toMatchObject({
      code: 'audio_not_found',
    })
    expect((await session.play({ clip: { path: sine }, offsetMs: 900 })).reason).toBe('completed')
  })
})

describe('an idle stream', () => {
  it('is silence from the negotiated port, marked once at its start, with even timestamps', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    await until('ten packets', () => peer.heard.items.length >= 10)
    const packets = peer.heard.items.slice(0, 10)
    expect(packets.map(({ marker }) => marker)).toEqual([true, ...Array<boolean>(9).fill(false)])
    expect(
      packets.every(({ from, payload }) => from === session.port && payload.every((one) => one === 0xff)),
    ).toBe(true)
    const [first] = packets
    for (const [index, { sequence, timestamp }] of packets.entries()) {
      expect((sequence - (first?.sequence ?? 0)) & 0xffff).toBe(index)
      expect((timestamp - (first?.timestamp ?? 0)) >>> 0).toBe(index * 160)
    }
  })
})

describe('an address of SDP that may not be sent to', () => {
  const inside = '127.0.0.2'
  const maySendTo = (address: string): boolean => address !== inside

  /**
   * Runs a UDP service on another address of the machine. `heard` returns the number of packets that it got, without
   * the mark that the test sends itself.
   */
  async function withService(
    work: (port: number, heard: () => Promise<number>) => Promise<void>,
  ): Promise<void> {
    const service = createSocket('udp4')
    await new Promise<void>((resolve) => service.bind(0, inside, resolve))
    const datagrams = new Inbox<string>()
    service.on('message', (datagram) => datagrams.push(datagram.toString('latin1')))
    const { port } = service.address()
    try {
      await work(port, async () => {
        service.send('mark', port, inside)
        await datagrams.next('the mark', (datagram) => datagram === 'mark')
        return datagrams.items.length - 1
      })
    } finally {
      service.close()
    }
  }

  it('is sent nothing, and the phone is heard and sent to once its packets come', async () => {
    await withService(async (port, heard) => {
      const phone = await peerOf()
      const session = await media.open({ maySendTo })
      session.face('127.0.0.1')
      const offer = phone.offer().replace('c=IN IP4 127.0.0.1', `c=IN IP4 ${inside}`)
      const { isHeld, sdp } = await session.answer(offer.replace(`m=audio ${phone.port}`, `m=audio ${port}`))
      // The call is not refused: phones behind NAT name such addresses all the time.
      expect(isHeld).toBe(false)
      expect(sdp).toContain('a=sendrecv')
      const played = session.play({ clip: { path: sine } })
      await until('the phone to hear us', () => {
        phone.send(session.port)
        return phone.heard.items.length > 10
      })
      await played
      await session.close()
      expect(await heard()).toBe(0)
    })
  })

  it('gets no reports either', async () => {
    await withService(async (port, heard) => {
      const phone = await peerOf()
      const session = await media.open({ maySendTo })
      session.face('127.0.0.1')
      const rtcp = `a=rtcp:${port} IN IP4 ${inside}`
      await session.answer(phone.offer().replace(`a=rtcp:${phone.rtcpPort}`, rtcp))
      await phone.heard.next('our packets', () => true)
      // Sends a BYE in a report.
      await session.close()
      expect(await heard()).toBe(0)
    })
  })
})

describe('what the far end sends', () => {
  it('is reported once at its first packet, and from then on heard by the latched source only', async () => {
    const [phone, stranger] = [await peerOf(), await peerOf()]
    const session = await media.open()
    const events = eventsOf(session)
    // The SDP of a phone behind NAT: its address is not the one that packets come from.
    await session.answer(phone.offer().replace(`m=audio ${phone.port}`, 'm=audio 9'))
    phone.send(session.port)
    const first = await events.next('first packet', ({ type }) => type === 'first-packet')
    expect(first).toEqual({
      type: 'first-packet',
      address: '127.0.0.1',
      port: phone.port,
      trust: 'sdp-address',
    })
    await phone.heard.next('our packets', () => true)
    stranger.send(session.port, { ssrc: 99 })
    stranger.press(session.port, 1, 5)
    phone.press(session.port, 2, 5)
    expect(await events.next('digit', ({ type }) => type === 'digit')).toMatchObject({ digit: '2' })
    expect(stranger.heard.items).toEqual([])
    const stats = await until('the rest of the key', async () => {
      const now = await session.stats()
      return now.packetsReceived >= 8 ? now : undefined
    })
    expect(stats).toMatchObject({ packetsReceived: 8, packetsLost: 0 })
  })

  it('counts each key once', async () => {
    const peer = await peerOf()
    const session = await media.open()
    const events = eventsOf(session)
    await session.answer(peer.offer())
    for (const event of [1, 1, 11]) peer.press(session.port, event, 5)
    await until('three digits', () => events.items.filter(({ type }) => type === 'digit').length === 3)
    await session.close()
    expect(events.items.filter(({ type }) => type === 'digit')).toEqual(
      ['1', '1', '#'].map((digit) => ({ type: 'digit', digit, durationMs: 100 })),
    )
  })
})

describe('hold and resume', () => {
  it('stops sending while held and goes on in the same stream afterwards', async () => {
    const peer = await peerOf()
    const session = await media.open()
    const first = await session.answer(peer.offer())
    await until('packets', () => peer.heard.items.length > 3)
    const hold = await session.answer(peer.offer({ lines: ['a=sendonly'] }))
    expect(hold.isHeld).toBe(true)
    expect(hold.sdp).toContain('a=recvonly')
    await peer.caughtUp()
    const before = peer.heard.items.length
    // A playback advances although the far end does not hear it.
    expect((await session.play({ clip: { path: sine } })).playedMs).toBe(1000)
    await peer.caughtUp()
    expect(peer.heard.items.length).toBeLessThanOrEqual(before + 1)
    const resumed = await session.answer(peer.offer())
    expect(resumed.isHeld).toBe(false)
    expect(resumed.sdp.replace(/^o=.*$/m, '')).toBe(first.sdp.replace(/^o=.*$/m, ''))
    const next = await peer.heard.next('packets again', () => true, { from: before + 1 })
    expect(next.marker).toBe(true)
    expect(next.ssrc).toBe(peer.heard.items[0]?.ssrc)
  })

  it('keeps a running clip recognisable when the law changes in the middle', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer({ payloads: '0' }))
    const abort = new AbortController()
    const playing = session.play({ clip: { path: join(directory, 'long.wav') }, signal: abort.signal })
    await until('packets', () => peer.heard.items.length > 10)
    await session.answer(peer.offer({ payloads: '8' }))
    await until('half a second', () => peer.audio('PCMA', 8).samples.length >= 500 * 8)
    abort.abort()
    await playing
    const after = peer.audio('PCMA', 8)
    expect(toneShare(slice(after, 100, 500), 440)).toBeGreaterThan(0.98)
  })
})

describe('reports', () => {
  it('end with a BYE, and return the figures that the far end reports on our stream', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    const packet = await peer.heard.next('a packet', () => true)
    const block = {
      ssrc: packet.ssrc,
      fractionLost: 0,
      packetsLost: 3,
      highestSequence: 10,
      jitter: 80,
      lastSenderReport: 0,
      delaySinceLastSenderReport: 0,
    }
    const report = { ssrc: peer.ssrc, cname: 'x', sender: undefined, block, isBye: false }
    peer.sendReport(session.port + 1, toCompound(report))
    await until('the remote figures', async () => (await session.stats()).remote !== undefined)
    const final = await session.close()
    expect(final.remote).toEqual({ packetsLost: 3, jitterMs: 10 })
    expect(final.packetsSent).toBeGreaterThan(0)
    const last = await peer.reports.next('the goodbye', (datagram) =>
      datagram.includes(Buffer.from([0x81, 203])),
    )
    expect(last[1]).toBe(200)
    expect(await session.close()).toEqual(final)
  })
})

describe('ports', () => {
  it('are even, and refused with no_media_port when all are taken; closing frees them', async () => {
    const pairs = 4
    await media.stop()
    media = mediaWith({ ports: { first: firstPort, last: firstPort + 2 * pairs - 1 }, workers: 3 })
    await media.start()
    const sessions = await Promise.all(Array.from({ length: pairs }, () => media.open()))
    expect(new Set(sessions.map(({ port }) => port)).size).toBe(pairs)
    expect(sessions.every(({ port }) => port % 2 === 0)).toBe(true)
    await expect(media.open()).rejects.toMatchObject({ code: 'no_media_port' })
    expect(media.openSessions).toBe(pairs)
    await sessions[0]?.close()
    const again = await media.open()
    expect(again.port).toBe(sessions[0]?.port)
  })

  it('are not leaked by opening and closing 2,000 times', async () => {
    const handles = (): number => readdirSync('/proc/self/fd').length
    const before = handles()
    for (let round = 0; round < 40; round += 1) {
      const sessions = await Promise.all(Array.from({ length: 50 }, () => media.open()))
      await Promise.all(sessions.map((session) => session.close()))
    }
    expect(media.openSessions).toBe(0)
    expect(handles()).toBeLessThanOrEqual(before + 4)
    const all = await Promise.all(Array.from({ length: 100 }, () => media.open()))
    expect(new Set(all.map(({ port }) => port)).size).toBe(100)
  })
})

describe('the beat', () => {
  it('keeps packets 20 ms apart while the main thread is blocked 250 ms in every second', async () => {
    const recorder = await startRecorder(50)
    try {
      const peer = await peerOf()
      const sessions = await Promise.all(
        recorder.ports.map(async (port) => {
          const session = await media.open()
          await session.answer(peer.offer().replace(/m=audio \d+/, `m=audio ${port}`))
          return session
        }),
      )
      const long = { clip: { path: join(directory, 'long.wav') }, rounds: Infinity }
      const playing = sessions.map((session) => session.play(long))
      // Exact figures are for the benchmark, on an idle machine. Here the processor itself may be late, so the seconds
      // are repeated until they were even. Packets that had to wait for the main thread would be late by 250 ms in one
      // of fifty, and fall behind by as much, each time.
      await until('even packets', async () => {
        await recorder.reset()
        for (let second = 0; second < 3; second += 1) {
          const end = performance.now() + 250
          while (performance.now() < end);
          await setTimeout(750)
        }
        const { packets, lost, driftMs, p50Ms, p99Ms } = await recorder.report()
        expect(lost).toBe(0)
        const isEven = driftMs < 150 && Math.abs(p50Ms - 20) < 5 && p99Ms < 150
        return isEven && packets > 50 * 50 * 1.5
      })
      await Promise.all(sessions.map((session) => session.close()))
      await Promise.all(playing)
    } finally {
      await recorder.close()
    }
  })
})

describe('stopping', () => {
  it('ends what runs and is idempotent', async () => {
    const peer = await peerOf()
    const session = await media.open()
    await session.answer(peer.offer())
    const playing = session.play({ clip: { path: join(directory, 'long.wav') } })
    await peer.heard.next('a packet', () => true)
    await media.stop()
    await media.stop()
    expect((await within('the end of the playback', 10_000, playing)).reason).toBe('stopped')
    await expect(media.open()).rejects.toMatchObject({ code: 'overloaded' })
  })
})
