import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  off: 'Нөөцлөлт унтраалттай',
  server: 'Өгөгдлийн сангийн үйлчилгээ үзүүлэгч нөөцөлдөг',
  late: 'Нөөцлөлт хоцорсон',
  lateText: '{n} цаг тутам нөөцлөх ёстой.',
  last: 'Сүүлийн нөөц хуулбар',
  took: 'Үргэлжилсэн хугацаа',
  next: 'Дараагийн нөөцлөлт',
  failures: 'Сүүлийн дахин эхлүүлснээс хойшх алдаа',
  places: 'Нөөцлөх байршил',
  place: 'Байршил',
  age: 'Сүүлийн нөөц хуулбар',
  running: 'Хийгдэж байна',
  database: 'Өгөгдлийн сан',
  log: 'Бичилтийн лог (WAL)',
  damaged: 'Файл гэмтсэн',
  intact: 'Сүүлийн шалгалтаар хэвийн',
  shipping: 'Тасралтгүй нөөцлөлт',
  shipped: 'Сүүлд байршуулсан',
  every: '{n} с тутам',
  snapshots: 'Агшны хуулбар',
  now: 'Одоо нөөцлөх',
  asked: 'Нөөцлөлт эхэлсэн',
} satisfies Translation<typeof en>
