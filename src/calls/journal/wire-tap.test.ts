import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { WireEvent } from '../../sip/sip.ts'
import type { StartedFact } from './journal.ts'
import { JournalWriter } from './journal-writer.ts'
import { MemoryCallStore } from '../../../test/support/scripted-engine/memory-call-store.ts'
import { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'
import { sipRequest } from '../../../test/support/scripted-engine/scripted-messages.ts'
import { WireTap } from './wire-tap.ts'

const started = { type: 'started', call_sid: 'c', account_sid: 'a' } as StartedFact

const open = () =>
  new JournalWriter(started, { store: new MemoryCallStore(), clock: createFakeClock(), hidesDigits: false })

function received(invite: ScriptedInvite): WireEvent {
  const { request, raw, remote, callId } = invite
  return { direction: 'received', callId, message: request, raw, remote }
}

function sent(invite: ScriptedInvite, status: number, reason: string): WireEvent {
  const message = { kind: 'response', status, reason, headers: [], body: Buffer.alloc(0) } as const
  return {
    direction: 'sent',
    callId: invite.callId,
    message,
    raw: Buffer.from(reason),
    remote: invite.remote,
  }
}

const summaries = (journal: JournalWriter): string[] =>
  journal.events.flatMap((event) => (event.type === 'sip' ? [event.summary] : []))

const ring = (cseq = '1 INVITE') => {
  const invite = new ScriptedInvite({ to: 'x@example.com', callId: 'one@test' })
  const headers = invite.request.headers.map((field) =>
    field.name === 'cseq' ? { ...field, value: cseq } : field,
  )
  return Object.assign(invite, { request: { ...invite.request, headers } })
}

describe('WireTap', () => {
  it('puts what was seen before the leg existed into its journal, in order', () => {
    const tap = new WireTap()
    const journal = open()
    const invite = ring()
    tap.record(received(invite))
    tap.record(sent(invite, 100, 'Trying'))
    tap.attach(invite, journal)
    tap.record(sent(invite, 200, 'OK'))
    expect(summaries(journal)).toEqual(['INVITE', '100 Trying', '200 OK'])
  })

  it('marks a message that went the same way before as repeated, also from before the leg existed', () => {
    const tap = new WireTap()
    const journal = open()
    const invite = ring()
    tap.record(received(invite))
    tap.record(received(invite))
    tap.record(sent(invite, 100, 'Trying'))
    tap.attach(invite, journal)
    tap.record(sent(invite, 200, 'OK'))
    tap.record(sent(invite, 200, 'OK'))
    tap.record({ ...sent(invite, 200, 'OK'), direction: 'received' })
    const marks = journal.events.flatMap((event) => (event.type === 'sip' ? [event.is_repeated] : []))
    expect(marks).toEqual([undefined, true, undefined, undefined, true, undefined])
  })

  it('takes the INVITE itself when the wire was not tapped', () => {
    const journal = open()
    new WireTap().attach(ring(), journal)
    expect(summaries(journal)).toEqual(['INVITE'])
  })

  it('keeps the round of the challenge out of the journal of the call', () => {
    const tap = new WireTap()
    const journal = open()
    const first = ring()
    tap.record(received(first))
    tap.record(sent(first, 401, 'Unauthorized'))
    tap.drop(first.callId)
    tap.record({ ...received(first), message: sipRequest('ACK') })
    const second = ring('2 INVITE')
    tap.record(received(second))
    tap.attach(second, journal)
    expect(summaries(journal)).toEqual(['INVITE'])
  })

  it('gives a new attempt with the same Call-ID its own journal, and a retransmission the old one', () => {
    const tap = new WireTap()
    const [before, after] = [open(), open()]
    const first = ring()
    tap.record(received(first))
    tap.attach(first, before)
    tap.record(received(first))
    const second = ring('2 INVITE')
    tap.record(received(second))
    tap.attach(second, after)
    tap.detach(first.callId, before)
    tap.record(sent(second, 200, 'OK'))
    expect(summaries(before)).toEqual(['INVITE', 'INVITE'])
    expect(summaries(after)).toEqual(['INVITE', '200 OK'])
  })

  it('ignores what belongs to no call', () => {
    const tap = new WireTap()
    const journal = open()
    tap.record({ ...received(ring()), message: sipRequest('OPTIONS') })
    tap.attach(ring(), journal)
    expect(summaries(journal)).toEqual(['INVITE'])
  })
})

describe('the messages of an INVITE that has no call yet', () => {
  it('are kept up to a bound, and the rest of the story follows once there is one', () => {
    const tap = new WireTap()
    const journal = open()
    const invite = ring()
    tap.record(received(invite))
    for (let count = 0; count < 50; count += 1) tap.record(sent(invite, 100, 'Trying'))
    tap.attach(invite, journal)
    tap.record(sent(invite, 200, 'OK'))
    expect(summaries(journal)).toEqual(['INVITE', ...Array<string>(31).fill('100 Trying'), '200 OK'])
  })

  it('are forgotten, the oldest first, where too many wait', () => {
    const tap = new WireTap()
    const invites = Array.from({ length: 501 }, (_, index) =>
      Object.assign(ring(), { callId: `waiting-${index}@test` }),
    )
    for (const invite of invites) {
      tap.record(received(invite))
      tap.record(sent(invite, 100, 'Trying'))
    }
    const journals = [1, 500, 0].map((index) => {
      const journal = open()
      const invite = invites[index]
      if (invite !== undefined) tap.attach(invite, journal)
      return summaries(journal)
    })
    expect(journals).toEqual([['INVITE', '100 Trying'], ['INVITE', '100 Trying'], ['INVITE']])
  })

  it('are forgotten with an INVITE that was turned away, and later ones go nowhere', () => {
    const tap = new WireTap()
    const journal = open()
    const invite = ring()
    tap.record(received(invite))
    tap.drop(invite.callId)
    tap.record(sent(invite, 403, 'Forbidden'))
    tap.attach(invite, journal)
    expect(summaries(journal)).toEqual(['INVITE'])
  })
})

describe('the messages of a call', () => {
  it('go into its journal from its first INVITE on, where the platform makes the call', () => {
    const tap = new WireTap()
    const journal = open()
    const invite = ring()
    tap.expect(invite.callId, journal)
    tap.record({ ...received(invite), direction: 'sent' })
    tap.record({ ...sent(invite, 180, 'Ringing'), direction: 'received' })
    expect(summaries(journal)).toEqual(['INVITE', '180 Ringing'])
  })

  it('stay in it where a proxy sends its INVITE back with the same Call-ID, and the other call gets none of them', () => {
    const tap = new WireTap()
    const [made, taken] = [open(), open()]
    const invite = ring()
    const headersOf = (toTag: string) => [
      { name: 'from', value: '<sip:a@example.com>;tag=made' },
      { name: 'to', value: `<sip:x@example.com>${toTag}` },
    ]
    const event = received(
      Object.assign(invite, { request: sipRequest('INVITE', { headers: headersOf('') }) }),
    )
    const response = (direction: 'sent' | 'received', reason: string): WireEvent => {
      const message = { kind: 'response', status: 200, reason, body: Buffer.alloc(0) } as const
      return { ...event, direction, message: { ...message, headers: headersOf(';tag=taken') } }
    }
    tap.expect(invite.callId, made)
    tap.record({ ...event, direction: 'sent' })
    tap.record(event)
    tap.attach(invite, taken)
    tap.record(response('sent', 'of the called'))
    tap.record(response('received', 'to the caller'))
    const bye = sipRequest('BYE', { headers: headersOf(';tag=taken') })
    tap.record({ ...event, direction: 'sent', message: bye })
    expect(summaries(made)).toEqual(['INVITE', '200 to the caller', 'BYE'])
    expect(summaries(taken)).toEqual(['INVITE', '200 of the called'])
    tap.record({ ...event, message: bye })
    expect([summaries(made).length, summaries(taken).at(-1)]).toEqual([3, 'BYE'])
  })

  it.each(['takes', 'turns away'])(
    'stay in it where the platform %s another call with the same Call-ID',
    (does) => {
      const tap = new WireTap()
      const [journal, other] = [open(), open()]
      const invite = ring()
      tap.record(received(invite))
      tap.attach(invite, journal)
      const next = ring('7 INVITE')
      tap.record(received(next))
      if (does === 'takes') tap.attach(next, other)
      else tap.drop(next.callId)
      const headers = [{ name: 'to', value: `<sip:x@example.com>;tag=${invite.localTag}` }]
      const response = { ...sent(invite, 200, 'OK').message, headers }
      tap.record({ ...sent(invite, 200, 'OK'), message: response })
      tap.record({ ...received(invite), message: sipRequest('BYE', { headers }) })
      expect(summaries(journal)).toEqual(['INVITE', '200 OK', 'BYE'])
      expect(summaries(other)).toEqual(does === 'takes' ? ['INVITE'] : [])
      tap.detach(invite.callId, journal)
      tap.record({ ...received(invite), message: sipRequest('BYE', { headers }) })
      expect(summaries(journal)).toHaveLength(3)
    },
  )

  it('are in it from both sides: a re-INVITE begins no other call', () => {
    const tap = new WireTap()
    const journal = open()
    const invite = ring()
    tap.record(received(invite))
    tap.attach(invite, journal)
    const headers = [
      { name: 'to', value: '<sip:x@example.com>;tag=ours' },
      { name: 'cseq', value: '9 INVITE' },
    ]
    tap.record({ ...received(invite), message: sipRequest('INVITE', { headers }) })
    tap.record({ ...received(invite), message: sipRequest('BYE', { headers }) })
    expect(summaries(journal)).toEqual(['INVITE', 'INVITE', 'BYE'])
    expect(journal.events.at(-1)).toMatchObject({ direction: 'received', remote: 'udp:127.0.0.1:26060' })
  })

  it('that is served are not given up with another INVITE that is turned away', () => {
    const tap = new WireTap()
    const journal = open()
    const invite = ring()
    tap.record(received(invite))
    tap.attach(invite, journal)
    tap.drop(invite.callId)
    tap.record(sent(invite, 200, 'OK'))
    expect(summaries(journal)).toEqual(['INVITE', '200 OK'])
  })

  it('go nowhere once it is forgotten', () => {
    const tap = new WireTap()
    const journal = open()
    const invite = ring()
    tap.record(received(invite))
    tap.attach(invite, journal)
    tap.detach(invite.callId, open())
    tap.record(sent(invite, 200, 'OK'))
    tap.detach(invite.callId, journal)
    tap.record(sent(invite, 200, 'OK'))
    expect(summaries(journal)).toEqual(['INVITE', '200 OK'])
  })
})

describe('the messages of a dialog beside that of the call', () => {
  it('stand in its journal, without those of a method that is left out, until they are detached', () => {
    const tap = new WireTap()
    const journal = open()
    const event = received(ring())
    const message = sipRequest('OPTIONS', { headers: [{ name: 'cseq', value: '2 OPTIONS' }] })
    tap.expect(event.callId, journal, { without: 'OPTIONS' })
    tap.record({ ...event, direction: 'sent' })
    tap.record({ ...event, direction: 'sent', message })
    tap.detach(event.callId, journal)
    tap.record({ ...event, direction: 'sent' })
    expect(summaries(journal)).toEqual(['INVITE'])
  })
})
