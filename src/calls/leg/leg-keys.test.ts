import { expect, it } from 'vitest'
import { AppError } from '../../lib/errors.ts'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { LegKeys } from './leg-keys.ts'

/** A far end that accepts keys only as INFO. */
function legKeys() {
  const clock = createFakeClock()
  const over = new AbortController()
  const pressed: string[] = []
  const keys = new LegKeys({
    media: { sendKeys: () => Promise.reject(new AppError('media_not_acceptable', 'no events')) },
    requests: {
      send({ body }) {
        pressed.push(/Signal=(.)/.exec(body?.content.toString() ?? '')?.[1] ?? '')
        return Promise.resolve({ status: 200, reason: 'OK' })
      },
    },
    clock,
    signal: over.signal,
  })
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 50) {
      clock.advance(50)
      await settle()
    }
  }
  return { keys, clock, over, pressed, pass }
}

it('presses the keys of one command before those of the next', async () => {
  const { keys, pressed, pass } = legKeys()
  void keys.press('12', 100)
  const last = keys.press('34', 100)
  await pass(1500)
  await last
  expect(pressed).toEqual(['1', '2', '3', '4'])
})

it('lets thirty-two wait, and refuses the one after them', async () => {
  const { keys, over, clock, pressed } = legKeys()
  const sent = Array.from({ length: 33 }, () => keys.press('1', 100))
  await expect(sent[32]).rejects.toMatchObject({ code: 'overloaded' })
  expect(() => keys.demandRoom()).toThrow('wait for those before them')
  await settle()
  over.abort()
  await settle()
  await Promise.all(sent.slice(0, 32))
  expect([pressed, clock.pending]).toEqual([['1'], 0])
})
