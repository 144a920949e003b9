// The alternatives of a vendor's result, as most vendors write them.
import type { Alternative } from '../../contracts/recognition.ts'
import { memberOf } from '../../lib/members.ts'

const most = 5

/** Reads `{transcript, confidence}`; a missing confidence is 0. */
export function alternativesOf(list: readonly unknown[]): readonly Alternative[] {
  return list.slice(0, most).flatMap((one) => {
    const transcript = memberOf(one, 'transcript')
    return typeof transcript === 'string'
      ? [{ transcript, confidence: numberOf(one, 'confidence') ?? 0 }]
      : []
  })
}

export function numberOf(value: unknown, ...path: readonly (string | number)[]): number | undefined {
  const member = memberOf(value, ...path)
  return typeof member === 'number' && Number.isFinite(member) ? member : undefined
}
