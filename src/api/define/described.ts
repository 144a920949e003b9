// The members that answers are made of, each with what it means: the reference is read by people.

export const word = (description: string) => ({ type: 'string', description }) as const

export const wordOrNull = (description: string) => ({ type: ['string', 'null'], description }) as const

export const whole = (description: string) => ({ type: 'integer', description }) as const

export const truth = (description: string) => ({ type: 'boolean', description }) as const

/** A stored flag. */
export const bit = (description: string) => ({ type: 'integer', enum: [0, 1], description }) as const

export const id = (description: string) => ({ type: 'string', format: 'uuid', description }) as const

/** ISO 8601. */
export const moment = (description: string) => ({ type: 'string', format: 'date-time', description }) as const

export function oneOf<const C extends readonly string[]>(choices: C, description: string) {
  return { type: 'string', enum: choices, description } as const
}
