CREATE TABLE "audit_retention" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"until" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "address" text COLLATE "C";--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "before" text;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "after" text;--> statement-breakpoint
CREATE INDEX "audit_log_actor" ON "audit_log" USING btree ("actor","at");--> statement-breakpoint
CREATE INDEX "audit_log_action" ON "audit_log" USING btree ("action","at");--> statement-breakpoint
CREATE INDEX "audit_log_shop" ON "audit_log" USING btree ("shop_id","at");--> statement-breakpoint
CREATE FUNCTION souk_keep_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT 1 FROM audit_retention WHERE until > OLD.at) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the audit trail cannot be changed or removed' USING ERRCODE = 'restrict_violation';
END
$$;
--> statement-breakpoint
CREATE TRIGGER audit_log_kept BEFORE UPDATE OR DELETE ON audit_log FOR EACH ROW EXECUTE FUNCTION souk_keep_audit_log();
--> statement-breakpoint
CREATE TRIGGER audit_log_not_truncated BEFORE TRUNCATE ON audit_log FOR EACH STATEMENT EXECUTE FUNCTION souk_keep_audit_log();
