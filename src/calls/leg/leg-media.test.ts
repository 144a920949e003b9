import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { MemoryCallStore } from '../../../test/support/scripted-engine/memory-call-store.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { ScriptedMedia, type ScriptedSession } from '../../../test/support/scripted-engine/scripted-media.ts'
import { AppError } from '../../lib/errors.ts'
import { silentLogger } from '../../lib/log.ts'
import type { MediaEvent } from '../../media/media.ts'
import { JournalWriter } from '../journal/journal-writer.ts'
import type { StartedFact } from '../journal/journal.ts'
import { LegEvents } from './leg-events.ts'
import { LegMedia } from './leg-media.ts'

const started = { type: 'started', call_sid: 'c', account_sid: 'a' } as StartedFact
const peer = '192.0.2.1'
const place = { address: peer, transport: 'udp' } as const

function open() {
  const clock = createFakeClock()
  const scripted = new ScriptedMedia(clock)
  const journal = new JournalWriter(started, { store: new MemoryCallStore(), clock, hidesDigits: false })
  const events: MediaEvent[] = []
  const errors: unknown[] = []
  const log = { ...silentLogger, error: (fields: unknown) => void errors.push(fields) }
  const onEvent = (event: MediaEvent) => void events.push(event)
  const media = new LegMedia({ media: scripted, journal, log, events: new LegEvents(), clock, onEvent })
  return {
    scripted,
    media,
    events,
    errors,
    /** Returns the session. Throws if none is open. */
    session: (): ScriptedSession => {
      const [session] = scripted.sessions
      if (session === undefined) throw new Error('there is no session')
      return session
    },
    facts: (type: string) => journal.events.filter((event) => event.type === type),
  }
}

/** A leg whose INVITE came without an offer, and that has sent its own. */
async function offered() {
  const leg = open()
  await leg.media.negotiate(undefined, place)
  return leg
}

describe('the media of a leg', () => {
  it('are answered once for the INVITE that came: early media and the answer have the same SDP', async () => {
    const { media, session, scripted } = open()
    expect(await media.negotiate('v=0 theirs', place)).toBe('v=0 answer')
    expect(await media.negotiate('v=0 theirs', place)).toBe('v=0 answer')
    expect(session().offers).toEqual(['v=0 theirs'])
    expect(session().peers).toEqual([peer])
    expect(scripted.sessions).toHaveLength(1)
  })

  it('are offered where the INVITE that came has no offer', async () => {
    const { media, session } = open()
    expect(await media.negotiate(undefined, place)).toBe('v=0 offer')
    expect(session().peers).toEqual([peer])
  })

  it('take one port for all the places that are called at once, and an offer for each', async () => {
    const { media, session, scripted } = open()
    const offers = await Promise.all([
      media.offerTo(place),
      media.offerTo({ ...place, address: '192.0.2.2' }),
    ])
    expect(offers).toEqual(['v=0 offer', 'v=0 offer'])
    expect(scripted.sessions).toHaveLength(1)
    expect(session().peers).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  it('say in the journal once where they come from and go to', async () => {
    const { media, facts } = open()
    await media.negotiate('v=0 theirs', place)
    await media.renegotiate('v=0 again')
    expect(facts('media-open')).toMatchObject([
      {
        codec: 'PCMU',
        address: '127.0.0.1',
        port: 26_100,
        remote_address: '192.0.2.7',
        remote_port: 4000,
        sip_address: peer,
      },
    ])
  })

  it.each([
    ['udp', 'AES_CM_128_HMAC_SHA1_80', 1],
    ['tls', 'AES_CM_128_HMAC_SHA1_80', 0],
    ['ws', 'DTLS-SRTP', 0],
  ] as const)(
    'say whether keys could be read on their way: over %s, those of %s',
    async (transport, encryption, notes) => {
      const { media, scripted, facts } = open()
      const openSession = scripted.open.bind(scripted)
      scripted.open = async () => {
        const session = (await openSession()) as ScriptedSession
        session.encryption = encryption
        return session
      }
      await media.negotiate('v=0', { ...place, transport })
      await media.renegotiate('v=0 again')
      expect(facts('media-open')).toMatchObject([{ encryption }])
      expect(facts('note')).toHaveLength(notes)
    },
  )

  it('of a far end that is on hold without an address name none', async () => {
    const { media, scripted, facts } = open()
    const openSession = scripted.open.bind(scripted)
    scripted.open = async () => {
      const session = await openSession()
      session.answer = () =>
        Promise.resolve({
          sdp: 'v=0 answer',
          codec: 'PCMA',
          remote: undefined,
          isHeld: true,
          isPast: false,
          owesMedia: false,
        })
      return session
    }
    await media.negotiate('v=0 c=0.0.0.0', place)
    expect(facts('media-open')[0]).toMatchObject({ codec: 'PCMA', sip_address: peer })
    expect(facts('media-open')[0]).not.toHaveProperty('remote_address')
    expect(facts('media-held')).toHaveLength(1)
  })

  it('are held and resumed once each, however often the far end says so', async () => {
    const { media, session, facts } = open()
    await media.negotiate('v=0 sendrecv', place)
    for (const isHeld of [true, true, false, false, true]) {
      session().isHeld = isHeld
      await media.renegotiate('v=0 again')
    }
    expect(facts('media-held')).toHaveLength(2)
    expect(facts('media-resumed')).toHaveLength(1)
  })

  it('leave their figures in the journal at the end, those of the far end where it reported any', async () => {
    const plain = open()
    await plain.media.negotiate('v=0', place)
    await plain.media.close()
    const [fact] = plain.facts('media-closed')
    expect(fact).toMatchObject({
      codec: 'PCMU',
      packets_sent: 10,
      packets_received: 9,
      packets_lost: 1,
      packets_ignored: 0,
      jitter_ms: 2,
    })
    for (const name of ['remote_packets_lost', 'remote_jitter_ms', 'round_trip_ms'])
      expect(fact).not.toHaveProperty(name)

    const reported = open()
    await reported.media.negotiate('v=0', place)
    const figures = await reported.session().stats()
    const remote = { packetsLost: 3, jitterMs: 7, roundTripMs: 55 }
    reported.session().close = () => Promise.resolve({ ...figures, remote })
    await reported.media.close()
    expect(reported.facts('media-closed')).toMatchObject([
      { remote_packets_lost: 3, remote_jitter_ms: 7, round_trip_ms: 55 },
    ])
  })

  it('that fail to close are an error of the platform, and the leg ends all the same', async () => {
    const { media, session, errors, facts } = open()
    await media.negotiate('v=0', place)
    const error = new Error('the media thread is gone')
    session().close = () => Promise.reject(error)
    await media.close()
    expect(errors).toEqual([{ err: error }])
    expect(facts('media-closed')).toEqual([])
  })
})

describe('a leg that has ended', () => {
  it('without media closes nothing', async () => {
    const { media, scripted, facts } = open()
    await media.close()
    expect(scripted.sessions).toEqual([])
    expect(facts('media-closed')).toEqual([])
  })

  it('opens no media any more', async () => {
    const { media, scripted } = open()
    await media.close()
    expect(await media.negotiate('v=0', place)).toBeUndefined()
    expect(await media.offerTo(place)).toBeUndefined()
    expect(scripted.opened).toEqual([])
  })

  it('gives the port back that was being looked for meanwhile', async () => {
    const { media, scripted } = open()
    const answering = media.negotiate('v=0', place)
    await media.close()
    expect(await answering).toBeUndefined()
    expect(scripted.sessions).toHaveLength(1)
    expect(scripted.openSessions).toBe(0)
  })

  it('plays nothing, and refuses offers', async () => {
    const { media } = open()
    await media.negotiate('v=0', place)
    await media.close()
    expect(await media.play({ clip: { path: '/clips/1000' } })).toEqual({ reason: 'stopped', playedMs: 0 })
    await expect(media.renegotiate('v=0')).rejects.toMatchObject({
      code: 'media_not_acceptable',
      message: 'the call has no media',
    })
    await media.acknowledge('v=0')
    media.live()
  })
})

describe('the answer to our offer', () => {
  it('comes with the message that must bring it, from the place that was offered', async () => {
    const { media, session } = await offered()
    await media.acknowledge('v=0 theirs')
    expect(session().answers).toEqual(['v=0 theirs'])
    expect(session().peers).toEqual([peer, peer])
  })

  it('is taken once: an ACK that is repeated changes nothing', async () => {
    const { media, session } = await offered()
    await media.acknowledge('v=0 theirs')
    await media.acknowledge('v=0 other')
    await media.acknowledge(undefined)
    expect(session().answers).toEqual(['v=0 theirs'])
  })

  it('that is missing fails', async () => {
    const { media } = await offered()
    await expect(media.acknowledge(undefined)).rejects.toMatchObject({
      code: 'media_not_acceptable',
      message: 'the far end did not answer the offer',
    })
  })

  it.each([
    ['the same', 'v=0 early', ['v=0 early']],
    ['missing', undefined, ['v=0 early']],
    ['another', 'v=0 late', ['v=0 early', 'v=0 late']],
  ])('that came early holds where the late one is %s, except for another', async (_, late, expected) => {
    const { media, session } = await offered()
    await media.acceptEarly('v=0 early', place)
    await media.acceptEarly('v=0 early', place)
    await media.acknowledge(late, place)
    expect(session().answers).toEqual(expected)
  })

  it('that came early and does not fit is forgotten', async () => {
    const { media, session } = await offered()
    const accept = session().acceptAnswer.bind(session())
    const error = new AppError('media_not_acceptable', 'no codec in common')
    session().acceptAnswer = () => Promise.reject(error)
    await expect(media.acceptEarly('v=0 early', place)).rejects.toBe(error)
    session().acceptAnswer = accept
    await expect(media.acknowledge(undefined)).rejects.toThrow('did not answer the offer')
  })

  it('is not waited for where there was no offer from us', async () => {
    const { media, session } = open()
    await media.negotiate('v=0 theirs', place)
    await media.acceptEarly('v=0 early', place)
    await media.acknowledge(undefined)
    expect(session().answers).toEqual([])
  })

  it('is owed again after a re-INVITE that asks for an offer', async () => {
    const { media, session } = open()
    await media.negotiate('v=0 theirs', place)
    expect(await media.renegotiate(undefined)).toBe('v=0 offer')
    await media.acknowledge('v=0 new')
    expect(session().answers).toEqual(['v=0 new'])
  })

  it('is taken again after such a re-INVITE where it is the same as the early one', async () => {
    const { media, session } = await offered()
    await media.acceptEarly('v=0 early', place)
    await media.acknowledge('v=0 early', place)
    await media.renegotiate('v=0 hold')
    await media.renegotiate(undefined)
    await media.acknowledge('v=0 early')
    expect(session().answers).toEqual(['v=0 early', 'v=0 early'])
  })

  it('faces the place that gave it, where several were made an offer', async () => {
    const { media, session, facts } = open()
    const first = media.branchTo(place)
    await media.offerTo(first)
    await media.offerTo(media.branchTo({ ...place, address: '192.0.2.2' }))
    await media.offerTo(media.branchTo(place))
    await media.acknowledge('v=0 theirs', first)
    expect(session().peers).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.1', '192.0.2.1'])
    expect(session().branches).toEqual([1, 2, 3, 1])
    expect(facts('media-open')).toMatchObject([{ sip_address: '192.0.2.1' }])
  })
})

describe('several places that are made an offer', () => {
  const tls = { ...place, transport: 'tls' } as const

  it.each([
    ['over TLS', tls, place, 0],
    ['without TLS', place, tls, 1],
  ])(
    'have keys in the clear only where the one that answers is signalled %s',
    async (_, one, other, notes) => {
      const { media, session, facts } = open()
      const first = media.branchTo(one)
      await media.offerTo(first)
      await media.offerTo(media.branchTo(other))
      session().encryption = 'AES_CM_128_HMAC_SHA1_80'
      await media.acknowledge('v=0 theirs', first)
      expect(facts('note')).toHaveLength(notes)
    },
  )
})

describe('the silence of a far end', () => {
  const timeout = { type: 'timeout', cause: 'silent', silentMs: 30_000, limitMs: 30_000 } as const
  const heard = { type: 'first-packet', address: '192.0.2.7', port: 4000, trust: 'sdp' } as const
  const ignored = { type: 'ignored', address: '192.0.2.9', port: 9 } as const

  it.each<[string, readonly MediaEvent[], string]>([
    ['heard before', [heard], 'the far end was heard before and sends nothing any more'],
    ['heard and disturbed', [ignored, heard], 'the far end was heard before and sends nothing any more'],
    [
      'heard from elsewhere only',
      [ignored],
      'packets came only from places that neither the SDP nor signalling names',
    ],
    ['never heard', [], 'no packet of the far end ever came: a firewall or a wrong address keeps them back'],
  ])('that was %s is explained', async (_, before, because) => {
    const { media, session, facts, events } = open()
    await media.negotiate('v=0', place)
    for (const event of before) session().emit(event)
    media.noteSilence(timeout)
    await settle()
    expect(facts('media-timeout')).toMatchObject([{ cause: 'silent', silent_ms: 30_000, because }])
    expect(events).toEqual(before)
  })
})
