// The invariants of the four tables, whatever their entries are.
import { describe, expect, it } from 'vitest'
import { inviteClient, nonInviteClient } from './client-machines.ts'
import { listensFor, step } from './machine.ts'
import { inviteServer, nonInviteServer } from './server-machines.ts'

/** A table with text keys, so that one test handles all four. */
type Table = Readonly<Record<string, Readonly<Record<string, readonly [string, ...string[]]>>>>

const tables: readonly [string, Table, string][] = [
  ['the INVITE client (RFC 3261 §17.1.1)', inviteClient as unknown as Table, 'calling'],
  ['the non-INVITE client (RFC 3261 §17.1.2)', nonInviteClient as unknown as Table, 'trying'],
  ['the INVITE server (RFC 3261 §17.2.1)', inviteServer as unknown as Table, 'proceeding'],
  ['the non-INVITE server (RFC 3261 §17.2.2)', nonInviteServer as unknown as Table, 'trying'],
]

/** Returns the timer of an action: `startTimerE`, `doubleTimerE` and `startTimerEAtT2` all set timer E. */
const timerOf = (action: string): string | undefined => {
  const name = /^(?:start|double)Timer([A-Z][a-z]*?)(?:AtT2)?$/.exec(action)?.[1]
  return name === undefined ? undefined : `timer${name}`
}

const entriesOf = (table: Table) =>
  Object.entries(table).flatMap(([state, inputs]) =>
    Object.entries(inputs).map(([input, [next, ...actions]]) => ({ state, input, next, actions })),
  )

/** Returns every state that inputs can lead to. */
function reachable(table: Table, from: string): ReadonlySet<string> {
  const found = new Set([from])
  for (const state of found) for (const [next] of Object.values(table[state] ?? {})) found.add(next)
  return found
}

describe.each(tables)('%s', (_name, table, first) => {
  it('starts in its first state, and from every state that it reaches comes to an end', () => {
    expect(table[first]?.['start']).toBeDefined()
    for (const state of reachable(table, first)) expect(reachable(table, state)).toContain('terminated')
  })

  it('does nothing any more once it is over', () => {
    expect(table['terminated']).toEqual({})
  })

  it('sets no timer that its next state does not wait for', () => {
    for (const { state, input, next, actions } of entriesOf(table))
      for (const timer of actions.flatMap((action) => timerOf(action) ?? []))
        expect([state, input, timer, Object.keys(table[next] ?? {})]).toEqual([
          state,
          input,
          timer,
          expect.arrayContaining([timer]),
        ])
  })

  it('waits for no timer that nothing on the way sets', () => {
    const set = new Set(
      entriesOf(table).flatMap(({ actions }) => actions.flatMap((action) => timerOf(action) ?? [])),
    )
    const awaited = entriesOf(table)
      .map(({ input }) => input)
      .filter((input) => input.startsWith('timer'))
    expect(new Set(awaited)).toEqual(set)
  })

  it('never returns to a state that it has left', () => {
    const order = ['calling', 'trying', 'proceeding', 'accepted', 'completed', 'confirmed', 'terminated']
    for (const { state, next } of entriesOf(table))
      expect(order.indexOf(next)).toBeGreaterThanOrEqual(order.indexOf(state))
  })
})

describe('reading a table', () => {
  it('gives the next state and the actions in their order', () => {
    expect(step(inviteServer, 'completed', 'timerG')).toEqual({
      state: 'completed',
      actions: ['doubleTimerG', 'resend'],
    })
  })

  it('ignores what a state does not name', () => {
    expect(step(inviteClient, 'completed', '2xx')).toBeUndefined()
    expect(listensFor(inviteClient, 'completed', '2xx')).toBe(false)
    expect(listensFor(inviteClient, 'completed', '300-699')).toBe(true)
  })

  it('repeats an ACK for a refusal that comes again, and lets a 2xx up each time (RFC 6026 §7.2)', () => {
    expect(step(inviteClient, 'completed', '300-699')?.actions).toEqual(['sendAck'])
    expect(step(inviteClient, 'accepted', '2xx')?.actions).toEqual(['passUp'])
  })
})
