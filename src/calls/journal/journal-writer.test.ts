import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import type { StartedFact } from './journal.ts'
import { JournalWriter } from './journal-writer.ts'
import { MemoryCallStore } from '../../../test/support/scripted-engine/memory-call-store.ts'

const started = {
  type: 'started',
  call_sid: 'c1',
  account_sid: 'a1',
  attempted_at: 1,
  is_record_disabled: false,
} as StartedFact

function open(): { journal: JournalWriter; store: MemoryCallStore } {
  const store = new MemoryCallStore()
  return {
    journal: new JournalWriter(started, { store, clock: createFakeClock(), hidesDigits: false }),
    store,
  }
}

const note = { type: 'note', sentence: 'x' } as const

describe('JournalWriter', () => {
  it('hands notes of one turn over in one batch', async () => {
    const { journal, store } = open()
    journal.note(note)
    journal.note(note)
    await Promise.resolve()
    expect(store.batches.map(({ events }) => events.length)).toEqual([3])
  })

  it('hands over at once, with everything before it, what is committed', () => {
    const { journal, store } = open()
    journal.note(note)
    journal.add({ type: 'status', call_status: 'trying', sip_status: 100, sip_reason: 'Trying' })
    journal.commit()
    expect(store.batches.map(({ events }) => events.map(({ seq }) => seq))).toEqual([[1, 2, 3]])
  })

  it('gives the record once, however often it is closed', () => {
    const { journal, store } = open()
    journal.commit({ isLast: true })
    journal.commit({ isLast: true })
    expect(store.records).toHaveLength(1)
  })

  it('keeps no event of a call that has ended, and numbers on what comes late', async () => {
    const { journal, store } = open()
    journal.note(note)
    journal.commit({ isLast: true })
    expect(journal.events).toEqual([])
    journal.note(note)
    await Promise.resolve()
    expect(journal.events).toEqual([])
    expect(store.batches.map(({ events }) => events.map(({ seq }) => seq))).toEqual([[1, 2], [3]])
    expect(journal.facts.started.call_sid).toBe('c1')
  })

  it('says once that it is full, and still takes what the record depends on', () => {
    const { journal } = open()
    for (let count = 0; count < 5000; count++) journal.note(note)
    const full = journal.events.length
    expect(journal.events.filter(({ type }) => type === 'truncated')).toHaveLength(1)
    journal.add({ type: 'ended', termination_reason: 'failed' })
    expect(journal.events).toHaveLength(full + 1)
    expect(journal.facts.termination_reason).toBe('failed')
    expect(journal.events.every(({ seq }, index) => seq === index + 1)).toBe(true)
  })

  it('is full after a megabyte of SIP', () => {
    const { journal } = open()
    const raw = 'x'.repeat(8000)
    for (let count = 0; count < 1000; count++)
      journal.note({ type: 'sip', direction: 'received', summary: 'INFO', remote: 'udp:1.2.3.4:5060', raw })
    expect(journal.events.length).toBeLessThan(200)
    for (let count = 0; count < 100; count++) journal.add({ type: 'tagged', data: { raw } })
    expect(journal.events.length).toBeLessThan(200)
    expect(journal.facts.customerData).toEqual({ raw })
  })

  it('is full after a megabyte of what an application writes', () => {
    const { journal } = open()
    const id = 'x'.repeat(100_000)
    for (let count = 0; count < 100; count++) journal.note({ type: 'verb-started', verb: 'pause', id })
    expect(journal.events.length).toBeLessThan(20)
  })

  describe('of a call whose words are recognised without end', () => {
    const heard = (transcript: string) =>
      ({
        type: 'heard',
        recogniser: 'background',
        vendor: 'deepgram',
        language: 'en-US',
        channel: 1,
        transcript,
        confidence: 0.9,
      }) as const

    it.each([
      ['many short words', 'yes', 3000],
      ['few long ones', 'x'.repeat(50_000), 16],
    ])('keeps what else happens, and says once that words are missing: %s', (_, words, kept) => {
      const { journal } = open()
      for (let count = 0; count < 5000; count++) journal.note(heard(words))
      const typesOf = () => journal.events.map(({ type }) => type)
      expect(typesOf().filter((type) => type === 'heard')).toHaveLength(kept)
      for (let count = 0; count < 500; count++) journal.note(note)
      journal.note(heard(words))
      const billed = { by: 'closed', because: 'the call has ended', audio_ms: 9, socket_ms: 9 } as const
      journal.note({ type: 'recognition-ended', recogniser: 'background', vendor: 'deepgram', ...billed })
      journal.add({ type: 'ended', termination_reason: 'caller hungup' })
      expect(typesOf().slice(-2)).toEqual(['recognition-ended', 'ended'])
      expect(typesOf().filter((type) => type === 'note')).toHaveLength(500)
      expect(journal.events.filter(({ type }) => type === 'truncated')).toEqual([
        expect.objectContaining({ of: 'words' }),
      ])
      expect(journal.events.every(({ seq }, index) => seq === index + 1)).toBe(true)
    })
  })
})
