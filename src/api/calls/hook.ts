// A hook of one call: it lives with the call and is no record.
import type { Hook } from '../../contracts/hook.ts'
import { createField } from '../define/field.ts'
import type { Field } from '../define/field.ts'
import { socketHook, webhook } from '../define/fields.ts'
import type { HookInput } from '../define/fields.ts'

/** An object, or the URL alone. */
export function hook(): Field<HookInput | null, 'optional'> {
  const { facts } = webhook(socketHook).optional()
  return createField({
    ...facts,
    isHook: false,
    normalize: (value) => facts.normalize?.(typeof value === 'string' ? { url: value } : value),
  })
}

export function toHook(input: HookInput | null | undefined): Hook | null {
  if (input === undefined || input === null) return null
  const { url, method = 'POST', username = null, password = null } = input
  return { url, method, username, password }
}
