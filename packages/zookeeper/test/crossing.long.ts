import { describeCrossing } from './crossing.ts';

describeCrossing(200);
