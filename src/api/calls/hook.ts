// A hook of one call: it lives with the call and is not a record.
import type { HookForm } from '../../calls/calls.ts'
import type { Hook } from '../../contracts/hook.ts'
import { createField, type Field } from '../define/field.ts'
import { liveHook, socketHook, webhook, type HookInput, type HookRule } from '../define/fields.ts'

/** Returns a field for an object, or the URL alone. */
export function hook(rule: HookRule = socketHook): Field<HookInput | null, 'optional'> {
  const { facts } = webhook(rule).optional()
  return createField({
    ...facts,
    isHook: false,
    normalize: (value) => facts.normalize?.(typeof value === 'string' ? { url: value } : value),
  })
}

/** Returns the same for a call that is up, where it may be a path. */
export function hookOfLiveCall(): Field<HookInput | null, 'optional'> {
  return hook(liveHook)
}

export function toHook(input: HookInput | null | undefined): Hook | null {
  if (input === undefined || input === null) return null
  const { url, method = 'POST', username = null, password = null } = input
  return { url, method, username, password }
}

/** Returns the form of an application: without credentials a hook has those of the application, at the same origin. */
export function toHookForm({ url, method, username, password }: HookInput): HookForm {
  const hasOwn = username !== undefined || password !== undefined
  return {
    url,
    ...(method === undefined ? {} : { method }),
    ...(hasOwn ? { username: username ?? null, password: password ?? null } : {}),
  }
}
