CREATE TABLE "kpi_days" (
	"kpi" text COLLATE "C" NOT NULL,
	"span" integer NOT NULL,
	"day" integer NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"value" bigint NOT NULL,
	CONSTRAINT "kpi_days_kpi_span_day_key_pk" PRIMARY KEY("kpi","span","day","key")
);
--> statement-breakpoint
CREATE TABLE "kpi_deltas" (
	"kpi" text COLLATE "C" NOT NULL,
	"day" integer NOT NULL,
	"id" text COLLATE "C" NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"value" bigint NOT NULL,
	CONSTRAINT "kpi_deltas_kpi_day_id_pk" PRIMARY KEY("kpi","day","id")
);
--> statement-breakpoint
CREATE TABLE "kpi_state" (
	"id" integer PRIMARY KEY NOT NULL,
	"filled_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "products" ADD COLUMN "created_as" text COLLATE "C" DEFAULT 'DRAFT' NOT NULL;--> statement-breakpoint
CREATE INDEX "customers_created" ON "customers" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "orders_confirmed" ON "orders" USING btree ("confirmed_at") WHERE confirmed_at is not null;--> statement-breakpoint
CREATE INDEX "products_created" ON "products" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "shops_verified" ON "shops" USING btree ("verified_at") WHERE verified_at is not null;--> statement-breakpoint
CREATE INDEX "users_created" ON "users" USING btree ("created_at");--> statement-breakpoint
UPDATE products SET created_as = status;
