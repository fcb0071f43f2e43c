import { describeCrossing } from './crossing.ts';

describeCrossing(40);
