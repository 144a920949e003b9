// Queries that are compiled once and run often: a slot marks the place of a value that each run supplies.
import {
  sql,
  type Compilable,
  type InsertQueryBuilder,
  type InsertResult,
  type Kysely,
  type RawBuilder,
} from 'kysely'
import type { Schema } from '../tables.ts'
import type { Cells, Parameter, Session } from './database.ts'

class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/**
 * Returns a placeholder for a value while a query is built; each run supplies the real one. Its type is `never`, which
 * Kysely accepts for every column. Building and compiling a query takes 16 us, running a look-up by key on SQLite 2
 * us: so a query is compiled once.
 */
export function slot(name: string): never {
  return new Slot(name) as never
}

/**
 * Returns a slot for LIMIT and OFFSET. SQLite inspects a bare parameter there and plans the statement again whenever
 * its value changes; the cast prevents that.
 */
export function rowSlot(name: string): RawBuilder<number> {
  return sql<number>`cast(${slot(name)} as bigint)`
}

/** Returns a slot for each of these columns, under its name: for rows that are written whole. */
export function slots<const C extends string>(columns: readonly C[]): Record<C, never> {
  return Object.fromEntries(columns.map((column) => [column, slot(column)])) as Record<C, never>
}

export type Values = Readonly<Record<string, Parameter | undefined>>

export interface Prepared {
  /** Throws when a slot has no value. */
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

/** Returns a function that compiles the query of each name once. */
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

type Inserting<T extends keyof Schema> = InsertQueryBuilder<Schema, T, InsertResult>

/** Returns a function that inserts whole rows into one table. The statement is compiled with the first row. */
export function prepareInsert<T extends keyof Schema>(
  db: Kysely<Schema>,
  table: T,
  refine: (query: Inserting<T>) => Compilable = (query) => query,
): (session: Session, row: Schema[T]) => Promise<Cells[]> {
  let prepared: Prepared | undefined
  return (session, row) => {
    prepared ??= prepare(refine(db.insertInto(table).values(slots(Object.keys(row)) as never)))
    return prepared.all(session, row as unknown as Values)
  }
}

/** Compiles and runs a query that has too many forms, or runs too rarely, to be kept. */
export function run(session: Session, query: Compilable): Promise<Cells[]> {
  return prepare(query).all(session, {})
}
