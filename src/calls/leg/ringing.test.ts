// The ringing that a caller hears while its application has not answered the call hook.
import { describe, expect, it } from 'vitest'
import { account } from '../../../test/support/scripted-engine/scripted-facts.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../../test/support/scripted-engine/scripted-engine.ts'
import { heldAnswer } from '../../../test/support/scripted-engine/scripted-hooks.ts'
import { settle } from '../../../test/support/scripted-engine/turns.ts'
import { parsePlainVerbs } from '../../../test/support/scripted-engine/plain-verbs.ts'
import type { ScriptedInvite } from '../../../test/support/scripted-engine/scripted-sip.ts'

const statusesOf = ({ provisionals }: ScriptedInvite): number[] => provisionals.map(({ status }) => status)

/** An engine whose application answers the call hook only on `release`. */
function slowPlatform(ringingMs: number): { at: ScriptedEngine; release: (verbs: unknown) => Promise<void> } {
  const at = createScriptedEngine(parsePlainVerbs, { ringingMs })
  const { answer, release } = heldAnswer()
  at.hooks.answers.set('/call', answer)
  return {
    at,
    async release(verbs) {
      release(verbs)
      await settle()
    },
  }
}

describe('a caller whose application is slow', () => {
  it('hears ringing after its time, once, and the live call says so', async () => {
    const { at, release } = slowPlatform(500)
    const invite = at.ring()
    await settle()
    at.clock.advance(499)
    expect(statusesOf(invite)).toEqual([])
    at.clock.advance(1)
    expect(statusesOf(invite)).toEqual([180])
    expect(invite.provisionals[0]).not.toHaveProperty('body')
    const [live] = at.calls.list(account.account_sid)
    expect(live).toMatchObject({ call_status: 'ringing', sip_status: 180 })
    expect(at.calls.journal(account.account_sid, live?.call_sid ?? '')).toContainEqual(
      expect.objectContaining({ type: 'decision', rule: 'ringing' }),
    )
    at.clock.advance(10_000)
    expect(statusesOf(invite)).toEqual([180])
    await release([{ verb: 'answer' }])
    expect(invite.dialog).toBeDefined()
    expect(at.clock.pending).toBe(0)
  })

  it('is reported to the status hook as trying, ringing, in-progress, completed', async () => {
    const { at, release } = slowPlatform(500)
    at.ring()
    await settle()
    at.clock.advance(500)
    await release([{ verb: 'answer' }])
    expect(at.store.statuses).toEqual(['trying', 'ringing', 'in-progress', 'completed'])
    expect(at.store.notifications.map(({ sip_status }) => sip_status)).toEqual([100, 180, 200, 200])
    const [{ call_sid } = { call_sid: '' }] = at.store.records
    const events = at.store.journalOf(call_sid)
    const journalled = events.flatMap((event) => (event.type === 'status' ? [event.call_status] : []))
    expect(journalled).toEqual(['trying', 'ringing', 'in-progress', 'completed'])
    expect(events.filter(({ type }) => type === 'rang')).toHaveLength(1)
  })

  it('hears ringing too when the first verbs come at once and say nothing', async () => {
    const at = createScriptedEngine(parsePlainVerbs, { ringingMs: 500 })
    at.hooks.on('/call', [{ verb: 'wait', ms: 2_000 }, { verb: 'answer' }])
    const invite = at.ring()
    await settle()
    at.clock.advance(500)
    expect(statusesOf(invite)).toEqual([180])
    at.clock.advance(1_500)
    await settle()
    expect(at.store.statuses).toEqual(['trying', 'ringing', 'in-progress', 'completed'])
  })

  it.each([
    ['answers', [{ verb: 'answer' }, { verb: 'wait', ms: 5_000 }], []],
    ['speaks early', [{ verb: 'speak-early' }, { verb: 'wait', ms: 5_000 }], [183]],
    ['declines', [{ verb: 'decline', status: 486 }], []],
  ])('hears none when the application %s in time', async (_, verbs, expected) => {
    const at = createScriptedEngine(parsePlainVerbs, { ringingMs: 500 })
    at.hooks.on('/call', verbs)
    const invite = at.ring()
    await settle()
    at.clock.advance(1_000)
    expect(statusesOf(invite)).toEqual(expected)
  })

  it.each([
    ['the engine has it off', 0, null, 5_000, []],
    ['its account has it off', 500, 0, 5_000, []],
    ['its account waits longer', 500, 3_000, 2_999, []],
    ['its account is quicker', 500, 100, 100, [180]],
    ['its account alone has it on', 0, 100, 100, [180]],
  ])('hears what was chosen: %s', async (_, ringingMs, ringing_after_ms, afterMs, expected) => {
    const { at } = slowPlatform(ringingMs)
    at.account = { ...account, ringing_after_ms }
    const invite = at.ring()
    await settle()
    at.clock.advance(afterMs)
    expect(statusesOf(invite)).toEqual(expected)
  })

  it('who hangs up while it rings is reported as trying, ringing and no-answer', async () => {
    const { at } = slowPlatform(500)
    const invite = at.ring()
    await settle()
    at.clock.advance(500)
    invite.cancel()
    await settle()
    expect(at.store.statuses).toEqual(['trying', 'ringing', 'no-answer'])
  })

  it('who hangs up first hears nothing any more', async () => {
    const { at } = slowPlatform(500)
    const invite = at.ring()
    await settle()
    invite.cancel()
    at.clock.advance(1_000)
    expect(statusesOf(invite)).toEqual([])
    expect(at.clock.pending).toBe(0)
  })
})
