import { beforeEach, describe, expect, it } from 'vitest'
import { parseMessage } from '../message/parse-message.ts'
import { DialogTable, dialogIdOf, type DialogEntry, type DialogId } from './dialog-table.ts'

const id: DialogId = { callId: 'c', localTag: 'l', remoteTag: 'r' }
const stopped: string[] = []

function entry(name: string, whenStopped: () => void = () => undefined): DialogEntry {
  return {
    receive: () => undefined,
    receiveAck: () => undefined,
    standing: { kind: 'over' },
    stop: () => {
      stopped.push(name)
      whenStopped()
    },
  }
}

let table: DialogTable
beforeEach(() => {
  table = new DialogTable()
  stopped.length = 0
})

describe('the table of dialogs (RFC 3261 §12)', () => {
  it('finds an entry by Call-ID and both tags, and by nothing less', () => {
    const kept = entry('kept')
    table.set(id, kept)
    expect(table.get({ ...id })).toBe(kept)
    for (const other of [{ callId: 'x' }, { localTag: 'x' }, { remoteTag: 'x' }, { remoteTag: '' }])
      expect(table.get({ ...id, ...other })).toBeUndefined()
    // A request to us has our tag in To, our own request has it in From: the two sides of one dialog are two entries.
    // entries.
    expect(table.get({ callId: 'c', localTag: 'r', remoteTag: 'l' })).toBeUndefined()
  })

  it('has one entry for each ID: a dialog replaces the INVITE that it came from', () => {
    const [early, confirmed] = [entry('early'), entry('confirmed')]
    table.set(id, early)
    table.set(id, confirmed)
    expect([table.size, table.get(id)]).toEqual([1, confirmed])
  })

  it('deletes an entry only if it is still the one in the table', () => {
    const [early, confirmed] = [entry('early'), entry('confirmed')]
    table.set(id, early)
    table.set(id, confirmed)
    table.delete(id, early)
    expect(table.get(id)).toBe(confirmed)
    table.delete(id, confirmed)
    expect([table.size, table.get(id)]).toEqual([0, undefined])
  })

  it('stops every entry once, though each leaves the table meanwhile', () => {
    const ids = ['1', '2', '3'].map((callId) => ({ ...id, callId }))
    for (const one of ids) {
      const made: DialogEntry = entry(one.callId, () => table.delete(one, made))
      table.set(one, made)
    }
    table.stopAll()
    expect(stopped).toEqual(['1', '2', '3'])
    expect(table.size).toBe(0)
  })
})

describe('the dialog ID of a request', () => {
  const request = (from: string, to: string) =>
    parseMessage(Buffer.from(`BYE sip:a@b SIP/2.0\r\nFrom: ${from}\r\nTo: ${to}\r\nCall-ID: c\r\n\r\n`))

  it.each([
    ['has our tag in To and that of the peer in From', '<sip:p@x>;tag=r', '<sip:a@b>;tag=l', id],
    ['has an empty tag for a peer of RFC 2543', '<sip:p@x>', '<sip:a@b>;tag=l', { ...id, remoteTag: '' }],
    ['is none without a tag in To', '<sip:p@x>;tag=r', '<sip:a@b>', undefined],
    ['is none for a tag of the URI', '<sip:p@x>;tag=r', '<sip:a@b;tag=l>', undefined],
  ])('%s', (_what, from, to, expected) => {
    expect(dialogIdOf(request(from, to))).toEqual(expected)
  })
})
