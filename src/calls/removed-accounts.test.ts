import { describe, expect, it } from 'vitest'
import { account } from '../../test/support/scripted-engine/scripted-facts.ts'
import { calm } from '../../test/support/scripted-engine/turns.ts'
import {
  createScriptedEngine,
  type ScriptedEngine,
} from '../../test/support/scripted-engine/scripted-engine.ts'
import { parsePlainVerbs } from '../../test/support/scripted-engine/plain-verbs.ts'

/** Two calls that are up. */
async function open(): Promise<ScriptedEngine> {
  const engine = createScriptedEngine(parsePlainVerbs)
  engine.hooks.on('/call', [{ verb: 'answer' }, { verb: 'wait', ms: 86_400_000 }])
  engine.ring()
  engine.ring()
  await calm()
  return engine
}

async function pass(engine: ScriptedEngine, ms: number): Promise<void> {
  engine.clock.advance(ms)
  await calm()
}

describe('an account that is removed, here or on another node', () => {
  it('has no calls half a second later, which say that it was removed', async () => {
    const engine = await open()
    await pass(engine, 2000)
    expect(engine.calls.liveCount).toBe(2)
    engine.account = undefined
    await pass(engine, 500)
    expect(engine.calls.liveCount).toBe(0)
    for (const { call_sid } of engine.store.records)
      expect(engine.store.journalOf(call_sid)).toContainEqual(
        expect.objectContaining({ type: 'refusal', code: 'account_removed' }),
      )
    expect([engine.store.records.length, engine.clock.pending]).toEqual([2, 0])
  })

  it('is not one that the storage says nothing about, and calls of others go on', async () => {
    const engine = await open()
    engine.otherAccounts.push(account)
    engine.account = { ...account, account_sid: 'another' }
    await pass(engine, 1000)
    engine.accountsKnown = Promise.reject(new Error('no database'))
    engine.otherAccounts.pop()
    await pass(engine, 1000)
    await pass(engine, 1000)
    expect(engine.calls.liveCount).toBe(2)
    delete engine.accountsKnown
    await pass(engine, 1000)
    expect(engine.calls.liveCount).toBe(0)
  })
})
