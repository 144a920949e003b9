// Calls that take callers out of a queue.
import { describe, expect, it } from 'vitest'
import {
  after,
  createQueueing,
  sentTo,
  stay,
  taking,
  talk,
  waiting,
  type InCall,
  type Queueing,
} from '../../../test/support/scripted-engine/queueing.ts'
import { parseVerbs } from '../../verbs/index.ts'

const start = (): Queueing => createQueueing(parseVerbs)

describe('a call that takes', () => {
  it('waits as long as its timeout, and goes on', async () => {
    const queueing = start()
    const agent = await queueing.ring([{ ...taking, timeout: 5 }, after])
    await queueing.advance(4999)
    expect(sentTo(queueing, '/taken', 'dequeue_result')).toEqual([])
    await queueing.advance(1)
    expect(sentTo(queueing, '/taken', 'dequeue_result')).toEqual(['timeout'])
    expect(agent.session().played).toEqual(['/clips/1000'])
    const caller = await queueing.ring([waiting])
    expect(caller.facts('bridged')).toEqual([])
  })

  it('waits for ever without one', async () => {
    const queueing = start()
    const agent = await queueing.ring([taking])
    await queueing.advance(3_600_000)
    const caller = await queueing.ring([waiting])
    expect(talk(caller, agent)).toBe(true)
  })

  it('may choose its caller, and two who want one and the same do not both get it', async () => {
    const queueing = start()
    const callers = [await queueing.ring([waiting]), await queueing.ring([waiting])]
    const chosen = { ...taking, callSid: callers[1]?.call_sid, timeout: 5 }
    const first = await queueing.ring([chosen])
    const second = await queueing.ring([chosen])
    expect(callers.map((caller) => talk(caller, first))).toEqual([false, true])
    await queueing.advance(5000)
    expect(sentTo(queueing, '/taken', 'dequeue_result')).toEqual(['timeout'])
    expect(second.facts('bridged')).toEqual([])
    expect(queueing.lengths()).toEqual(['support: 1'])
  })

  it('of two that wait for one caller the one that came first gets it', async () => {
    const queueing = start()
    const agents = [await queueing.ring([taking]), await queueing.ring([taking])]
    const caller = await queueing.ring([waiting])
    expect(agents.map((agent) => talk(caller, agent))).toEqual([true, false])
  })

  it('hears a tone for half a second, and the caller does not', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting])
    const agent = await queueing.ring([{ ...taking, beep: true }])
    const sounds = (call: InCall) =>
      call.session().wiring.hears.map(({ from }) => 'sound' in from && from.sound)
    expect(sounds(agent)).toContain('beep')
    expect(sounds(caller)).not.toContain('beep')
    await queueing.advance(500)
    expect(sounds(agent)).not.toContain('beep')
    expect(talk(caller, agent)).toBe(true)
  })

  it('goes on when the caller has hung up, and its hook hears that it is complete', async () => {
    const queueing = start()
    const caller = await queueing.ring([waiting])
    const agent = await queueing.ring([taking, stay])
    await caller.bye()
    expect(sentTo(queueing, '/taken', 'dequeue_result')).toEqual(['complete'])
    expect(sentTo(queueing, '/left', 'queue_result')).toEqual(['bridged'])
    expect(agent.invite.dialog?.isOver).toBe(false)
    expect(agent.facts('unbridged')).toMatchObject([{ because: 'the caller +4420 hung up' }])
  })

  it('that hangs up while it waits takes no one', async () => {
    const queueing = start()
    const agent = await queueing.ring([taking])
    await agent.bye()
    expect(sentTo(queueing, '/taken', 'dequeue_result')).toEqual(['hangup'])
    const caller = await queueing.ring([waiting])
    expect(queueing.lengths()).toEqual(['support: 1'])
    expect(caller.facts('bridged')).toEqual([])
  })

  it('takes one after the other with one verb each', async () => {
    const queueing = start()
    const callers = [await queueing.ring([waiting]), await queueing.ring([waiting])]
    queueing.engine.hooks.on('/taken', [taking])
    const agent = await queueing.ring([taking])
    await callers[0]?.bye()
    expect(callers.map((caller) => talk(caller, agent))).toEqual([false, true])
  })
})
