import type { Translation } from '../../lib/i18n/catalog.ts'
import type en from './i18n.en.ts'

export default {
  subtitle: 'ما باعه الشركاء المسوّقون: طلبات مؤكدة جلبها شريك، قبل الاسترداد، بالدولار الأمريكي',
  kind: 'ما الذي يُرتَّب',
  merchants: 'التجار',
  limit: 'الصفوف',
  rank: 'الرتبة',
  gmv: 'مبيعات المسوّقين',
  none: 'لم يبع أي مسوّق شيئًا في هذه الأيام',
  noneText: 'المتاجر تسمّي مسوّقيها بنفسها، وما يُشترى برابط مسوّق يُرتَّب هنا. جرّب أيامًا أكثر.',
} satisfies Translation<typeof en>
