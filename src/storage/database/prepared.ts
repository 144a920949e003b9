// Queries that are compiled once and run often: a slot stands where a value comes at each run.
import { sql } from 'kysely'
import type { Compilable, RawBuilder } from 'kysely'
import type { Cells, Parameter, Session } from './database.ts'

class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/**
 * Stands for a value while a query is built; each run brings the real one. Its type is `never`, which Kysely accepts for every
 * column. Building and compiling a query takes 16 us, running a look-up by key on SQLite 2 us: so a query is compiled once.
 */
export function slot(name: string): never {
  return new Slot(name) as never
}

/** A slot for LIMIT and OFFSET. SQLite looks at a bare value there, and plans the statement again for every other one. */
export function rowSlot(name: string): RawBuilder<number> {
  return sql<number>`cast(${slot(name)} as bigint)`
}

export type Values = Readonly<Record<string, Parameter | undefined>>

export interface Prepared {
  /** Throws where a slot has no value. */
  all(session: Session, values: Values): Promise<Cells[]>
}

export function prepare(query: Compilable): Prepared {
  const { sql, parameters } = query.compile()
  return {
    all(session, values) {
      const bound: Parameter[] = []
      for (const parameter of parameters) {
        const value = parameter instanceof Slot ? values[parameter.name] : (parameter as Parameter)
        if (value === undefined) throw new TypeError('a prepared query was run without one of its values')
        bound.push(value)
      }
      return session.all(sql, bound)
    },
  }
}

/** Compiles the query of each name once. */
export function createPreparedCache(): (name: string, make: () => Compilable) => Prepared {
  const cache = new Map<string, Prepared>()
  return (name, make) => {
    let prepared = cache.get(name)
    if (prepared === undefined) {
      prepared = prepare(make())
      cache.set(name, prepared)
    }
    return prepared
  }
}
