import { definitions } from '../clients/processors/index.ts'

type All = (typeof definitions)[keyof typeof definitions]['settings']
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer Whole) => void ? Whole : never
type ProcessorSettings = { [Name in keyof Intersection<All>]: Intersection<All>[Name] }

/** The instance's own processor accounts. */
export const processors: ProcessorSettings = Object.assign({}, ...Object.values(definitions).map(({ settings }) => settings))
