import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  hint: 'Дараалсан таван алдаа боловсруулагчийн таслуурыг нээнэ: шалгалт зүгээр гэж үзэх хүртэл төлбөр түүгээр дамжихгүй.',
  host: 'Хост',
  state: 'Төлөв',
  failures: 'Дараалсан алдаа',
  since: 'Нээгдсэн',
  probe: 'Дараагийн шалгалт',
  CLOSED: 'Хаалттай',
  OPEN: 'Нээлттэй',
  HALF_OPEN: 'Хагас нээлттэй',
  isolated: '{at}-ээс тусгаарласан',
  isolate: 'Тусгаарлах',
  isolateOf: '{name} тусгаарлах',
  restoreOf: '{name} сэргээх',
  isolateText: 'Таныг сэргээх хүртэл бүх процесст шинэ төлбөр {name}-г ашиглахгүй. Явж буй төлбөр болон буцаалт үргэлжилнэ.',
  done: '{name} тусгаарлагдлаа',
  undone: '{name} төлбөр дахин авч байна',
  noHosts: 'Юу ч асуугаагүй байна',
} satisfies Translation<typeof en>
