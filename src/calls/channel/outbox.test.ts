import { describe, expect, it } from 'vitest'
import { createFakeClock } from '../../../test/support/fake-clock.ts'
import { AppError } from '../../lib/errors.ts'
import { Outbox } from './outbox.ts'

/** Returns an outbox, the texts that it sent, and the outcome of each question. */
function stage() {
  const clock = createFakeClock()
  const outbox = new Outbox(clock)
  const sent: string[] = []
  const outcomes: string[] = []
  const ask = (
    msgid: string,
    options: { signal?: AbortSignal; isFirst?: boolean; text?: string } = {},
  ): void =>
    void outbox.ask(msgid, options.text ?? msgid, options).then(
      (data) => outcomes.push(`${msgid}: ${String(data)}`),
      (error: unknown) =>
        outcomes.push(
          `${msgid}: ${error instanceof AppError ? error.code : String((error as Error).message)}`,
        ),
    )
  const open = (): number => outbox.open((text) => sent.push(text))
  const settled = async (): Promise<string[]> => {
    for (let step = 0; step < 5; step += 1) await Promise.resolve()
    return outcomes
  }
  return { clock, outbox, sent, ask, open, settled }
}

const big = 'x'.repeat(600 * 1024)

describe('what is to be sent', () => {
  it('waits for a socket, and goes out in its order; the first question before all', () => {
    const { outbox, sent, ask, open } = stage()
    outbox.tell('1', 'one')
    ask('2')
    ask('0', { isFirst: true })
    expect([sent, outbox.isEmpty]).toEqual([[], false])
    expect(open()).toBe(0)
    expect([sent, outbox.isEmpty]).toEqual([['0', 'one', '2'], true])
    outbox.tell('3', 'three')
    expect(sent.at(-1)).toBe('three')
  })

  it('is said again first of all on the next socket where it has no ack yet', async () => {
    const { outbox, sent, ask, open } = stage()
    open()
    outbox.tell('1', 'one')
    ask('2')
    ask('3')
    outbox.acked('2', 'yes')
    outbox.close()
    outbox.tell('4', 'four')
    sent.length = 0
    open()
    expect(sent).toEqual(['3', 'four'])
  })
})

describe('a question', () => {
  it('is answered by its ack, once', async () => {
    const { outbox, ask, open, settled } = stage()
    open()
    ask('1')
    expect([outbox.acked('1', 'yes'), outbox.acked('1', 'no')]).toEqual([true, false])
    expect(await settled()).toEqual(['1: yes'])
  })

  it('that was never asked, was only told, or has not been sent has no ack', () => {
    const { outbox, ask, open } = stage()
    ask('1')
    expect(outbox.acked('1', 'early')).toBe(false)
    open()
    outbox.tell('2', 'two')
    expect([outbox.acked('2', ''), outbox.acked('9', '')]).toEqual([false, false])
  })

  it('waits five seconds for its ack, counted from when it is sent', async () => {
    const { clock, ask, open, settled } = stage()
    ask('1')
    clock.advance(60_000)
    open()
    clock.advance(4999)
    expect(await settled()).toEqual([])
    clock.advance(1)
    expect(await settled()).toEqual(['1: hook_timeout'])
    expect(clock.pending).toBe(0)
  })

  it('has its five seconds again on another socket', async () => {
    const { clock, outbox, ask, open, settled } = stage()
    open()
    ask('1')
    clock.advance(4000)
    outbox.close()
    clock.advance(4000)
    open()
    clock.advance(4999)
    expect(await settled()).toEqual([])
    expect(outbox.acked('1', 'late')).toBe(true)
  })

  it.each([false, true])('that is withdrawn is not awaited any more; sent: %s', async (isSent) => {
    const { clock, outbox, sent, ask, open, settled } = stage()
    const controller = new AbortController()
    if (isSent) open()
    ask('1', { signal: controller.signal })
    controller.abort(new Error('the verb was stopped'))
    expect(await settled()).toEqual(['1: the verb was stopped'])
    expect([outbox.acked('1', 'late'), outbox.isEmpty, clock.pending]).toEqual([false, true, 0])
    outbox.close()
    open()
    expect(sent).toEqual(isSent ? ['1'] : [])
  })

  it('whose reason is gone before it is asked is never sent', async () => {
    const { sent, ask, open, settled } = stage()
    ask('1', { signal: AbortSignal.abort(new Error('too late')) })
    open()
    expect([sent, await settled()]).toEqual([[], ['1: too late']])
  })
})

describe('a question in other words', () => {
  it('goes out before all that waits, and the ack of its new id answers it', async () => {
    const { outbox, sent, ask, open, settled } = stage()
    outbox.tell('1', 'one')
    ask('2')
    expect(outbox.rename('2', '2b', 'again')).toBe(true)
    open()
    expect(sent).toEqual(['again', 'one'])
    expect([outbox.acked('2', 'no'), outbox.acked('2b', 'yes')]).toEqual([false, true])
    expect(await settled()).toEqual(['2: yes'])
  })

  it.each([
    ['was sent', (outbox: Outbox) => outbox.open(() => undefined)],
    ['was never asked', (outbox: Outbox) => outbox.fail(new AppError('hook_unreachable', 'gone'))],
  ])('is not said when it %s', (_what, happens) => {
    const { outbox, ask } = stage()
    ask('1')
    outbox.tell('2', 'two')
    happens(outbox)
    expect([outbox.rename('1', '1b', ''), outbox.rename('2', '2b', '')]).toEqual([false, false])
  })
})

describe('what waits', () => {
  it('is 500 messages at most: those that no one awaits go first, the oldest of them', () => {
    const { outbox, sent, ask, open } = stage()
    ask('q')
    for (let count = 1; count <= 502; count += 1) outbox.tell(String(count), String(count))
    expect(open()).toBe(3)
    expect([sent.length, ...sent.slice(0, 3)]).toEqual([500, 'q', '4', '5'])
  })

  it('is 500 questions at most: the oldest one is refused', async () => {
    const { ask, open, settled } = stage()
    for (let count = 1; count <= 501; count += 1) ask(String(count))
    expect(await settled()).toEqual(['1: overloaded'])
    expect(open()).toBe(1)
  })

  it('is a megabyte at most, and says once how many it has lost', () => {
    const { outbox, sent, open } = stage()
    for (const id of ['1', '2', '3']) outbox.tell(id, `${id}${big}`)
    expect(open()).toBe(2)
    expect(sent.map((text) => text[0])).toEqual(['3'])
    outbox.close()
    expect(open()).toBe(0)
  })

  it('leaves out a message that is too large by itself', async () => {
    const { outbox, sent, ask, open, settled } = stage()
    ask('1', { text: big + big })
    outbox.tell('2', 'two')
    open()
    expect([sent, await settled()]).toEqual([['two'], ['1: overloaded']])
  })

  it.each([
    ['withdrawn', (_outbox: Outbox, end: () => void) => end()],
    [
      'said in other words and withdrawn',
      (outbox: Outbox, end: () => void) => {
        outbox.rename('1', '1b', 'short')
        end()
      },
    ],
    ['sent', (outbox: Outbox) => void outbox.open(() => undefined)],
  ])('takes no room any more once it is %s', (_what, happens) => {
    const { outbox, sent, ask, open } = stage()
    const controller = new AbortController()
    ask('1', { signal: controller.signal, text: big })
    happens(outbox, () => controller.abort(new Error('gone')))
    outbox.acked('1', '')
    outbox.close()
    outbox.tell('2', `2${big}`)
    expect(open()).toBe(0)
    expect(sent.at(-1)?.[0]).toBe('2')
  })

  it('takes no room however many questions are withdrawn while there is no socket', () => {
    const { outbox, sent, ask, open } = stage()
    for (let count = 0; count < 4; count += 1) {
      const controller = new AbortController()
      ask(String(count), { signal: controller.signal, text: big })
      controller.abort(new Error('gone'))
    }
    outbox.tell('last', 'last')
    expect([open(), sent]).toEqual([0, ['last']])
  })

  it('counts messages that are sent again too', () => {
    const { outbox, sent, ask, open } = stage()
    open()
    ask('1', { text: `1${big}` })
    outbox.close()
    outbox.tell('2', `2${big}`)
    expect(open()).toBe(1)
    expect(sent.map((text) => text[0])).toEqual(['1', '1'])
  })
})

it('the end of all sockets refuses each question, sent or not, and leaves no timer', async () => {
  const { clock, outbox, sent, ask, open, settled } = stage()
  open()
  ask('1')
  outbox.close()
  ask('2')
  open()
  ask('3')
  outbox.close()
  ask('4')
  outbox.tell('5', 'five')
  sent.length = 0
  outbox.fail(new AppError('hook_unreachable', 'it is gone'))
  expect((await settled()).toSorted()).toEqual(['1', '2', '3', '4'].map((id) => `${id}: hook_unreachable`))
  expect([sent, clock.pending, outbox.isEmpty]).toEqual([[], 0, true])
})
