import { expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { Mailbox, type Letter } from './mailbox.ts'

const a = { name: 'a' }
const b = { name: 'b' }

function box() {
  const clock = createFakeClock()
  const mailbox = new Mailbox<string>(clock)
  const begun: string[] = []
  const gates = new Map<string, () => void>()
  const letter = (name: string, given: Partial<Letter<string>> = {}): Letter<string> => ({
    to: a,
    isUrgent: false,
    open() {
      begun.push(name)
      const { promise: applied, resolve } = Promise.withResolvers<void>()
      gates.set(name, resolve)
      return { reply: Promise.resolve(`re: ${name}`), applied }
    },
    ...given,
  })
  const apply = async (name: string): Promise<void> => {
    gates.get(name)?.()
    await new Promise(setImmediate)
  }
  const codeOf = async (sent: Promise<string>): Promise<string> =>
    await sent.catch((error: unknown) => (error instanceof AppError ? error.code : 'no AppError'))
  return { mailbox, clock, begun, letter, apply, codeOf }
}

it('opens the next letter when what the one before it changes is in place', async () => {
  const { mailbox, begun, letter, apply } = box()
  const first = mailbox.put(letter('1'))
  const second = mailbox.put(letter('2', { to: b }))
  expect(begun).toEqual(['1'])
  expect(await first).toBe('re: 1')
  expect(begun).toEqual(['1'])
  await apply('1')
  expect(begun).toEqual(['1', '2'])
  expect(await second).toBe('re: 2')
})

it('opens the next letter after half a second, whatever the one before it waits for', async () => {
  const { mailbox, clock, begun, letter, apply } = box()
  void mailbox.put(letter('1'))
  void mailbox.put(letter('2'))
  clock.advance(499)
  await apply('none')
  expect(begun).toEqual(['1'])
  clock.advance(1)
  await apply('none')
  expect(begun).toEqual(['1', '2'])
  await apply('2')
  expect(clock.pending).toBe(0)
})

it('goes on after a letter that is refused', async () => {
  const { mailbox, begun, letter, codeOf } = box()
  const open = (): never => {
    throw new AppError('call_state', 'not now')
  }
  const refused = mailbox.put(letter('1', { open }))
  void mailbox.put(letter('2'))
  expect(await codeOf(refused)).toBe('call_state')
  expect(begun).toEqual(['2'])
})

it('holds thirty-two letters, and refuses the one after them', async () => {
  const { mailbox, begun, letter, apply, codeOf } = box()
  const sent = Array.from({ length: 34 }, (_, n) => mailbox.put(letter(`${n}`)))
  expect(await codeOf(sent[33] as Promise<string>)).toBe('overloaded')
  for (let n = 0; n < 33; n++) await apply(`${n}`)
  expect(begun).toEqual(Array.from({ length: 33 }, (_, n) => `${n}`))
  expect(await codeOf(mailbox.put(letter('later')))).toBe('re: later')
})

it('opens an urgent letter at once', async () => {
  const { mailbox, begun, letter } = box()
  void mailbox.put(letter('1'))
  void mailbox.put(letter('2'))
  await mailbox.put(letter('now', { isUrgent: true }))
  expect(begun).toEqual(['1', 'now'])
})

it('withdraws what waits for a leg that is over, and nothing else', async () => {
  const { mailbox, begun, letter, apply, codeOf } = box()
  void mailbox.put(letter('1'))
  const withdrawn = mailbox.put(letter('2'))
  const other = mailbox.put(letter('3', { to: b }))
  mailbox.withdraw(a)
  expect(await codeOf(withdrawn)).toBe('call_state')
  await apply('1')
  expect(await other).toBe('re: 3')
  expect(begun).toEqual(['1', '3'])
})
