import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { WireEvent } from '../../sip/sip.ts'
import type { StartedFact } from './journal.ts'
import { JournalWriter } from './journal-writer.ts'
import { MemoryCallStore } from '../../../test/support/scripted-engine/scripted-engine.ts'
import { ScriptedInvite, sipRequest } from '../../../test/support/scripted-engine/scripted-sip.ts'
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
