// Hooks inside other records: rows of `webhooks` that are made, changed and removed with the record that holds them,
// in its transaction. A hook belongs to one field of one record, so no other record loses it when it is removed.
import { AppError } from '../../lib/errors.ts'
import type { Fields } from './field.ts'
import type { HookInput } from './fields.ts'
import type { Hooks } from './record.ts'
import type { OwnerSids } from './owner.ts'
import type { Repositories, Row } from '../../storage/storage.ts'
import type { Cells } from './rows.ts'

interface HookChange {
  readonly name: string
  readonly column: string
  readonly input: HookInput | null
}

type HookContent = Pick<Row<'webhooks'>, 'url' | 'method' | 'username' | 'password'>

/** Returns the hook fields that `values` sets or clears. */
export function hookChangesOf(
  fields: Fields,
  values: Readonly<Record<string, unknown>>,
): readonly HookChange[] {
  return Object.entries(fields)
    .filter(([name, { facts }]) => facts.isHook === true && values[name] !== undefined)
    .map(([name]) => ({ name, column: `${name}_sid`, input: values[name] as HookInput | null }))
}

export interface AppliedHooks {
  /** The columns that now name another hook. */
  readonly cells: Cells
  /** The rows that no record names once `cells` are stored. */
  readonly orphans: readonly string[]
}

/** Makes and edits hook rows. `row` is the record as it was, undefined while it is being made. */
export async function applyHooks(
  changes: readonly HookChange[],
  row: Cells | undefined,
  owner: OwnerSids,
  rows: Repositories,
): Promise<AppliedHooks> {
  const cells: Cells = {}
  const orphans: string[] = []
  for (const change of changes) {
    const present = row?.[change.column]
    const current = typeof present === 'string' ? present : undefined
    const next = await applyHook(change, current, owner, rows)
    if (next === current) continue
    cells[change.column] = next ?? null
    if (current !== undefined) orphans.push(current)
  }
  return { cells, orphans }
}

/** Returns the id of the hook that the field holds from now on. */
async function applyHook(
  { name, input }: HookChange,
  current: string | undefined,
  owner: OwnerSids,
  rows: Repositories,
): Promise<string | undefined> {
  if (input === null) return undefined
  const { webhook_sid, ...given } = input
  if (webhook_sid !== undefined) {
    if (webhook_sid !== current)
      throw new AppError('bad_request', `${name}.webhook_sid is not the hook of this record`)
    await rows.webhooks.update(webhook_sid, given)
    return webhook_sid
  }
  const { url, method = 'POST', username = null, password = null } = given
  const hook = { url, method, username, password }
  // Forms send every hook back with each save, so an unchanged hook keeps its row.
  const stored = current === undefined ? undefined : await rows.webhooks.find(current)
  if (stored !== undefined && isSame(stored, hook)) return current
  return (await rows.webhooks.insert({ ...hook, ...owner })).webhook_sid
}

function isSame(row: HookContent, { url, method, username, password }: HookContent): boolean {
  return row.url === url && row.method === method && row.username === username && row.password === password
}

/** Returns the hooks that these rows hold, as far as the caller may see them. */
export async function loadHooks(
  found: readonly Cells[],
  columns: readonly string[],
  rows: Repositories,
): Promise<Hooks> {
  const sids: string[] = []
  for (const row of found) {
    for (const column of columns) {
      const sid = row[column]
      if (typeof sid === 'string') sids.push(sid)
    }
  }
  if (sids.length === 0) return new Map()
  const hooks = new Map<string, Row<'webhooks'>>()
  for (const hook of await rows.webhooks.findMany(sids)) hooks.set(hook.webhook_sid, hook)
  return hooks
}
